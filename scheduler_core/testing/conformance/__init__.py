"""Drivers of the conformance corpora."""
