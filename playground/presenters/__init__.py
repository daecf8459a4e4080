"""What one panel shows: pure functions from a state to plain data, tested without Django."""
