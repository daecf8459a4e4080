"""Django's backend for SQLite, which can be looked at on a disk that takes nothing more."""
