"""What leaves a session as a file that takes long to make: a replay that needs no server, spans and tables (docs/exports.md)."""
