"""Looking closer at a world: attempts seen while they are run again, stranded pods, a plugin's figures for one node."""
