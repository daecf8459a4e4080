"""daemonset-controller: one pod on each node that is to have one."""
