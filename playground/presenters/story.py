"""The story panel: the chapters told so far, the latest one open."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.stories import story as find_story
from playground.stories import tell
from scheduler_core.view import WorldView


def present(sim: WorldView, look: Look, story: str = "") -> Panel:
    """What the story of that name tells at this step; an empty panel where there is no story."""
    found = find_story(story) if story else None
    if found is None:
        return Panel("story", {"title": "", "chapters": []})
    chapters = [told.to_json() for told in tell(found, sim)]
    return Panel(
        "story",
        {
            "title": found.title,
            "chapters": chapters[:-1],
            "latest": chapters[-1] if chapters else None,
            "of": len(found.chapters),
        },
    )
