"""Gangs: Coscheduling and the pod groups of kube 1.37 on the same input."""
