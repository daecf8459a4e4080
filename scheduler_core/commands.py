"""The commands, under the name that notebooks and plugins import them by."""

from scheduler_core.world.commands import *  # noqa: F403
