"""Plugins for Scheduler Playground, as an example: every extension point once."""
