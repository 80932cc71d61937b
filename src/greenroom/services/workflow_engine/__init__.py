"""Runs workflows on the log of one hub: does what `advance` asks for, and reports the outcome to it."""
