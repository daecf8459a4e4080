"""Cycles as data: their position, their state, and their past steps."""
