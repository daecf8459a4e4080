"""The database: its backends, and copies of it."""
