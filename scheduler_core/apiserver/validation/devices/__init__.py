"""What must not be in the objects of resource.k8s.io, and what of them may not be changed."""
