"""The scheduling algorithm: from the snapshot to the chosen node or the failure, one plugin at a time. It needs no world."""
