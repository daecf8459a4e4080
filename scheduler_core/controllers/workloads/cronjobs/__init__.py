"""cronjob-controller: Jobs by the clock."""
