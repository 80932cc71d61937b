"""HTTP and WebSockets for every door: limits of a connection, the guard, routes, and error responses."""
