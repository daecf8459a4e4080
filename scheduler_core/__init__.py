"""A deterministic model of kube-scheduler v1.34.1 and of the cluster around it."""

KUBE_VERSION = "v1.34.1"
ENGINE_VERSION = "1"

FIRST_EDITION, WITH_CLUSTER, WITH_DEVICES = 1, 2, 3
LATEST_EDITION = WITH_DEVICES
"""What a world begins with: 1, as before the components around the schedulers were modelled; 2, with them; 3, with claims for devices."""
