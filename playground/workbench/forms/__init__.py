"""Forms: what people fill in, checked field by field, and what it means."""
