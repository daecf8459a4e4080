"""Volumes, claims, classes of storage, and what CSI drivers say of themselves."""
