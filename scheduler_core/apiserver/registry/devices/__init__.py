"""The strategies for objects of resource.k8s.io."""
