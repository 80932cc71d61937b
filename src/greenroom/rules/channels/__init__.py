"""How people are reached when something waits for them: channels, and the rules of each."""
