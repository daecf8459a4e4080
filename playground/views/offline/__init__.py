"""A session as one HTML file that needs no server: its steps as the studio shows them, and a player (docs/exports.md)."""
