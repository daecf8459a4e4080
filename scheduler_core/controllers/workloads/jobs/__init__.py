"""job-controller: pods that are to end well, so many times."""
