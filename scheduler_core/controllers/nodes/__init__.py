"""Controllers of nodes: which ones are lost, their taints, and the pods that these evict."""
