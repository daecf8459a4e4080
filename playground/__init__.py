"""The Django project and its one app: sessions, streaming, pages."""

VERSION = "0.6.0"
"""The product's version; CHANGELOG.md says what it means. What the engine decides has a version of its own (scheduler_core)."""
