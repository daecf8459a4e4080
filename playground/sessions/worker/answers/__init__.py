"""What is asked about a world: pure reading, at any position."""
