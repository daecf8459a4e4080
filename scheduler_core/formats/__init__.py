"""Forms in which worlds come and go: manifests, configurations, exports, and the list of what has no effect."""
