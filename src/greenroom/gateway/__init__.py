"""The hub's side of nodes: their connections, the orders they are sent, and the runs that wait for one."""
