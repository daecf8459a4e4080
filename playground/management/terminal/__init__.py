"""Shared parts of the terminal commands: inputs from files and standard input, a world of them, progress, tables."""
