"""A room full of work to look at, played by scripted agents: `greenroom demo`."""
