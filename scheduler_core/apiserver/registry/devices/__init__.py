"""What the API server does to the objects of resource.k8s.io besides admission."""
