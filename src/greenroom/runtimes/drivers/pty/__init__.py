"""Any terminal program as an agent: people can attach to its terminal, and its results come through the hub."""
