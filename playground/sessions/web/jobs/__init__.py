"""Long tasks of a session beside its engine's requests."""
