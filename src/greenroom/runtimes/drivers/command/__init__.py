"""Any command as an agent: each prompt runs it once, and its output is the answer."""
