"""A deterministic model of kube-scheduler v1.34.1 and of the cluster around it."""

KUBE_VERSION = "v1.34.1"
ENGINE_VERSION = "1"

FIRST_EDITION, CLUSTER_EDITION, DEVICES_EDITION = 1, 2, 3
LATEST_EDITION = DEVICES_EDITION
"""What a world begins with: 1, the scheduler alone; 2, with the components around it; 3, with devices and extenders too."""
