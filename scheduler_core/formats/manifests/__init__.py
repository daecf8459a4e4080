"""What people bring, made into objects: kubectl's output in every form, archives, and files of other tools (docs/import.md)."""

from scheduler_core.formats.manifests.archives import is_archive, pack_files, unpack_files
from scheduler_core.formats.manifests.notes import Note, NotObjects
from scheduler_core.formats.manifests.reading import Intake, join_inputs, read
from scheduler_core.formats.manifests.texts import decode_text

__all__ = ["Intake", "NotObjects", "Note", "decode_text", "is_archive", "join_inputs", "pack_files", "read"]
__all__ += ["unpack_files"]
