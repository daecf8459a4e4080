"""What is accepted and has no effect here, so that nothing is passed over in silence. docs/coverage.md shows the same list."""

from scheduler_core.formats.unsupported.matching import notes, notes_of_configuration, without_effect
from scheduler_core.formats.unsupported.no_effect import ENTRIES, NoEffect

__all__ = ["ENTRIES", "NoEffect", "notes", "notes_of_configuration", "without_effect"]
