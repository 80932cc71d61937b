"""The JSON messages of the run-tree clients, over `/ws`."""
