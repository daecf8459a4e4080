"""statefulset-controller: pods with a name, an order and claims of their own."""
