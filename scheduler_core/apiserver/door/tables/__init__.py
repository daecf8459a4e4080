"""Tables: the columns of resources, and the contents of their cells."""
