"""Backups of the database: one file from which every session comes back as it was.

`copies` makes and restores one; `archive` is the form of the file; `sqlite` and `postgresql` know how each database is copied whole
while others write to it.
"""
