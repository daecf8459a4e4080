"""What the API server does to objects of each kind besides admission: their strategies, as kube calls them."""
