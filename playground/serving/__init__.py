"""The HTTP server around the application: connections, limits, proxies, logs, and what it counts."""
