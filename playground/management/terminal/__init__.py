"""What the commands for a terminal share: texts of files and standard input, a world of them, progress, tables."""
