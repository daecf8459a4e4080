"""statefulset-controller: pods with a stable name, an order, and their own claims."""
