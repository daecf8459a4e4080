"""The scheduler's surroundings: what else acts on the objects of a cluster."""
