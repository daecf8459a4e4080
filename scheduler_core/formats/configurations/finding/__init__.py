"""Finding configurations wherever people keep them."""

from scheduler_core.formats.configurations.finding.documents import find, find_in, is_configuration
from scheduler_core.formats.configurations.finding.found import Found

__all__ = ["Found", "find", "find_in", "is_configuration"]
