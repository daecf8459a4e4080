"""Foundations: declared state, virtual time and the agenda, records and the journal."""
