"""Lessons that people make: read from what they wrote, checked within limits, packed as a folder and unpacked."""

from playground.lessons.authoring.checking import Checked, Finding, SeenCard, check
from playground.lessons.authoring.files import LessonFiles
from playground.lessons.authoring.folders import BadFolder, folder_of, packed_folder

__all__ = [
    "BadFolder",
    "Checked",
    "Finding",
    "LessonFiles",
    "SeenCard",
    "check",
    "folder_of",
    "packed_folder",
]
