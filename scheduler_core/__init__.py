"""A deterministic model of kube-scheduler v1.34.1 and of the cluster around it."""

KUBE_VERSION = "v1.34.1"
ENGINE_VERSION = "1"
