"""daemonset-controller: one pod on each eligible node."""
