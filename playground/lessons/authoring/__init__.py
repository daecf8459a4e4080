"""Lessons that people make: read from what they wrote, checked within limits, packed as a folder and unpacked."""

from playground.lessons.authoring.checking import CheckResult, Finding, SeenCard, anchor_and_check, check
from playground.lessons.authoring.files import LessonFiles, files_in
from playground.lessons.authoring.folders import BadFolder, folder_of, pack_folder
from playground.lessons.authoring.moments import Moment
from playground.lessons.authoring.suggestions import SuggestedTask, Suggestion
from playground.lessons.authoring.writing import BEGIN, Writing, build_plan, dump_yaml

__all__ = ["BEGIN", "BadFolder", "CheckResult", "Finding", "LessonFiles", "Moment", "SeenCard", "SuggestedTask"]
__all__ += ["Suggestion", "Writing", "anchor_and_check", "build_plan", "check", "dump_yaml", "files_in", "folder_of"]
__all__ += ["pack_folder"]
