"""JSON and YAML as people write them: read with the lines at which things stand."""
