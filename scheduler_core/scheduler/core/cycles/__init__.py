"""Cycles as data: where each stands, what it knows, what has run."""
