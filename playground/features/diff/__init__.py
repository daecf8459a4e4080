"""The differences between two positions."""
