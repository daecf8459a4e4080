"""The controllers of workloads, which keep the desired pods running; one package for each kind.

docs/cluster/workloads.md describes the model.
"""
