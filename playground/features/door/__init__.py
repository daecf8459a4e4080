"""A session as a Kubernetes API server, for kubectl and other clients."""
