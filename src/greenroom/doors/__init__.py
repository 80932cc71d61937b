"""The ways in. Each door knows the nouns and the log, and never another door."""
