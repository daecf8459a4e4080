"""Conditions in a history: breakpoints, the conditions of runs, searches, and runaways."""
