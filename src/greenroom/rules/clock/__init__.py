"""The hub's time: when somebody sets the machine's clock, deadlines move with it."""
