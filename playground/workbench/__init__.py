"""Building blocks of what people fill in: forms, the builder of manifests, and the table of actions."""
