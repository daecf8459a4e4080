"""job-controller: pods that are to end well, so many times."""

from scheduler_core.controllers.workloads.jobs.controller import JobController

__all__ = ["JobController"]
