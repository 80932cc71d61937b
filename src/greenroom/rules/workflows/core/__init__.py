"""The core of workflows: pure functions that compute what follows from a piece of news."""
