"""Two sessions compared."""
