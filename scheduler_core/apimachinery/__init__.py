"""Kubernetes objects and the languages in them: quantities, selectors, CEL, and DRA's structured allocator."""
