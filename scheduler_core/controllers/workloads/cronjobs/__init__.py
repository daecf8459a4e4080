"""cronjob-controller: Jobs by the clock."""

from scheduler_core.controllers.workloads.cronjobs.controller import CronJobController

__all__ = ["CronJobController"]
