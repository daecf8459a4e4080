"""Everything that a stranger may send: each row of the table tries one kind of it on a server of its own (`python -m tests.hostile`)."""
