"""Queries about a world at any position; they change nothing."""
