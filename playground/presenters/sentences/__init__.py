"""Sentences about a plugin's step, a record, or the present step of a world."""
