"""The search for devices that Filter made for a pod on a node."""
