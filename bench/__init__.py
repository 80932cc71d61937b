"""The benchmark: Greenroom's bus against its peer and against the raw building blocks, in one run."""
