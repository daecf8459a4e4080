"""Releases: the preview of an upgrade, and the page of differences."""
