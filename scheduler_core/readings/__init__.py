"""A scheduler's metrics as they are now (families with their series) and as they developed (scrapes)."""
