"""The admission plugins, one a file."""
