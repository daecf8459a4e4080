"""Validation of pods and pod templates, part by part."""
