"""The hub's time, when the machine's clock is set: what is measured by spans moves along."""
