"""What a scheduler knows of the cluster: the cache, the columnar snapshot taken of it, and what-ifs on a snapshot."""
