"""From a checked tree to closures, and their cost."""
