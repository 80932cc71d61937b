"""Any command as an agent: it is run once for each prompt, and its output is what it says."""
