"""Controllers of nodes: lost nodes, taints, and the eviction of pods by taints."""
