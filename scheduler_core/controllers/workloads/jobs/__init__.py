"""job-controller: pods until a number of them have succeeded."""
