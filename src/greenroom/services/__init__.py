"""What runs in the hub: services that act on the log, on nodes and on the outside world."""
