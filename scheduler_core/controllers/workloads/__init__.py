"""The controllers of workloads: what keeps as many pods there as a workload wants, each kind a room of its own.

docs/cluster/workloads.md says what is modelled.
"""
