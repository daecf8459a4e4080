"""Comparison with the real scheduler at random."""
