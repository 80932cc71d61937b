"""What starts workflows automatically: the clock, signed calls, messages, and the ends of other workflows."""
