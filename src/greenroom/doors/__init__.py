"""The interfaces of the hub. Each door imports the nouns and the log, and never another door."""
