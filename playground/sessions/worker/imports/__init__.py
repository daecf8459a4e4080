"""Imports inside a worker: what one would do, and the command that does it."""
