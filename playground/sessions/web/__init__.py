"""Live sessions in the web process: their viewers, changes, and drives."""
