"""Breakpoints, watches, bookmarks, and their marks."""
