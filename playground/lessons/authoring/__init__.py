"""Lessons that people make: read from what they wrote, checked within limits, packed as a folder and unpacked."""

from playground.lessons.authoring.checking import Checked, Finding, SeenCard, check, moved_and_checked
from playground.lessons.authoring.files import LessonFiles, files_in
from playground.lessons.authoring.folders import BadFolder, folder_of, packed_folder
from playground.lessons.authoring.moments import Moment
from playground.lessons.authoring.suggestions import Suggestion
from playground.lessons.authoring.writing import BEGIN, Writing, begun_with, written

__all__ = [
    "BEGIN",
    "BadFolder",
    "Checked",
    "Finding",
    "LessonFiles",
    "Moment",
    "SeenCard",
    "Suggestion",
    "Writing",
    "begun_with",
    "check",
    "files_in",
    "folder_of",
    "moved_and_checked",
    "packed_folder",
    "written",
]
