"""Rules that answer asks without a person: allow, deny or ask, and why."""
