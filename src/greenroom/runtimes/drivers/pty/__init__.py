"""Any terminal program as an agent: a person can sit at its terminal, and its results come over the hub."""
