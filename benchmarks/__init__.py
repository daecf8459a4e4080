"""Benchmarks: what is measured, how, and with which input."""
