"""Pod groups of kube 1.37: the cycle of a group, its placements, and its preemption."""
