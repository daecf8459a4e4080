"""Leader election by a Lease: candidates that read and write one object, and believe their own clocks alone."""
