"""Validation: all errors in an object, with their fields, in kube's words."""
