"""Virtual time, what is still to happen in it, and seeded random streams."""
