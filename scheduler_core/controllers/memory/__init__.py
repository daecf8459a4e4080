"""The state of controllers between syncs, one module for each family of them. Surroundings has all of it."""
