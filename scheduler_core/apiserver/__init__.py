"""The simulated API server: objects by kind and name, watches, Kubernetes Events, and calls that fail on demand.

A write goes requests -> admission -> validation -> store; the watchers are notified of whatever is stored.
"""
