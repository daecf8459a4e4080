"""A pod's journey, and its CycleState."""
