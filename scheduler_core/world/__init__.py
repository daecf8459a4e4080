"""A world as a whole: its simulation, commands, checkpoints, and read-only views."""
