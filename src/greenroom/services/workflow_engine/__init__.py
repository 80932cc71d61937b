"""Carries workflows out on the log of one hub: what `advance` wishes is done, and what comes of it is told back."""
