"""Leader election by a Lease: candidates read and write one object, and rely only on their own clocks."""
