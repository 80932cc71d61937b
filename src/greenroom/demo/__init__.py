"""Example work played by scripted agents, for `greenroom demo`."""
