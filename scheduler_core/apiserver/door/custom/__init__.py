"""Custom resources: their definitions, and the definitions' rules for objects."""
