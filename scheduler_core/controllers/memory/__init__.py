"""What controllers remember between two looks at the store, one module for each that remembers something."""
