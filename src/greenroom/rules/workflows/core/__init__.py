"""The core of workflows: pure functions that say what follows when a run is told something."""
