"""Types of a tree, and what can be said of it before it runs."""
