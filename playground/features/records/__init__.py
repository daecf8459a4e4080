"""The records of a session, filtered."""
