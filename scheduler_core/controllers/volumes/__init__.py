"""The controllers of volumes: binding, provisioning, claims of ephemeral volumes, protection of what is in use."""
