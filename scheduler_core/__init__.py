"""A deterministic model of kube-scheduler v1.34.1 and of the cluster around it."""

KUBE_VERSION = "v1.34.1"
ENGINE_VERSION = "1"

FIRST_EDITION, LATEST_EDITION = 1, 2
"""What a world begins with: 1, as before the components around the schedulers were modelled; 2, with them."""
