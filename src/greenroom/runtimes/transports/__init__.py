"""Ways to speak to an agent's process that several drivers share."""
