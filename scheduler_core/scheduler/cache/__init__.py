"""The scheduler's cache of the cluster, the columnar snapshot of the cache, and what-ifs on a snapshot."""
