"""The story panel: the chapters reached so far, the latest one open."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.stories import reached_chapters
from playground.stories import story as find_story
from scheduler_core.view import WorldView


def present(sim: WorldView, look: Look, story: str = "") -> Panel:
    """What the story of that name says at this step; an empty panel where there is no story."""
    chosen = find_story(story) if story else None
    if chosen is None:
        return Panel("story", {"title": "", "chapters": []})
    chapters = [chapter.to_json() for chapter in reached_chapters(chosen, sim)]
    return Panel(
        "story",
        {
            "title": chosen.title,
            "chapters": chapters[:-1],
            "latest": chapters[-1] if chapters else None,
            "of": len(chosen.chapters),
        },
    )
