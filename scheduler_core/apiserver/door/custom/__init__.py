"""Custom resources: their definitions, and what these say of objects."""
