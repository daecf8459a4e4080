"""cronjob-controller: Jobs on a schedule."""
