"""Validation of volumes, claims, classes of storage, and objects of CSI drivers."""
