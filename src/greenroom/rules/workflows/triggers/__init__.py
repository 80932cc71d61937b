"""What starts workflows by itself: the clock, signed calls, messages, and the ends of other workflows."""
