"""Rules that answer permission requests without a person: allow, deny or ask, and why."""
