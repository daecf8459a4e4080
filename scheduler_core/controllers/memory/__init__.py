"""What controllers remember between two looks at the store, one module for each family of them; Surroundings holds it all."""
