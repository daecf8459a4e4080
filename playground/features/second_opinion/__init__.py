"""A scheduler from outside on a fork of a session: what it did, beside what ours would do."""
