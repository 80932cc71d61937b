"""What runs in the hub: the services that act on the log, on nodes and on the world outside."""
