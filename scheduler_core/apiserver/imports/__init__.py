"""Imports of existing objects, all or none, with a plan that shows the outcome for each object in advance."""
