"""Downloads of a session, and traces that come back."""
