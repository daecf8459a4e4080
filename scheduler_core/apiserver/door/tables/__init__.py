"""Tables: the columns of resources, and what stands in them."""
