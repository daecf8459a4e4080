"""The controllers of volumes: binding, provisioning, claims of ephemeral volumes, and protection of storage in use."""
