"""Starter stories: a world to begin with, and words that come as it is stepped.

A story is a YAML file of this folder: title, summary, configuration, objects (or `nodes` and `pods`, written as the
builder's arguments), and chapters. A chapter is reached once its condition holds and all before it have been; it may
offer an action, a command that the reader is invited to press. tests/playground/test_stories.py runs every story with the
real engine and checks what it claims.
"""

from playground.stories.loader import Action, Chapter, Story, all_stories, story
from playground.stories.reached import ReachedChapter, reached_chapters

__all__ = ["Action", "Chapter", "ReachedChapter", "Story", "all_stories", "reached_chapters", "story"]
