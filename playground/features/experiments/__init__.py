"""Experiments of a session: variants of the scheduler over seeds, run by a process of the server at the lowest priority."""
