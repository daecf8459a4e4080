"""Devices and the claims for them: on a node, by pool, by claim; one module for each."""
