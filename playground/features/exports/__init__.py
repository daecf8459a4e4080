"""Downloads of a session, and the import of traces."""
