"""Finding configurations wherever people keep them."""

from scheduler_core.formats.configurations.finding.documents import find, find_in, is_configuration
from scheduler_core.formats.configurations.finding.found import FoundConfiguration

__all__ = ["FoundConfiguration", "find", "find_in", "is_configuration"]
