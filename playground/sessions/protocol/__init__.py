"""The messages between the web process and its workers. Both sides import this package; it imports neither."""
