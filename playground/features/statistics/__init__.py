"""Charts of a session over virtual time."""
