"""The controllers of a cluster, each a package of one file or folder (contract.py has the contract)."""
