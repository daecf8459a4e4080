"""Devices and their claims: on a node, by pool, by claim; one module for each."""
