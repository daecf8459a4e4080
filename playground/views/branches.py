"""The branches of a session: the strip at the timeline, and the room where they are named, opened and compared."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from playground.presenters import Look
from playground.sessions.database.asking import in_thread
from playground.sessions.database.branches import family
from playground.sessions.recent import list_recent_keys
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import workbench

ROW = 22  # pixels from one line to the next
DEEPEST = 6  # no name is indented further


@require_GET
@opens
async def branches(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """All branches that this key reaches, as a tree; with `strip` only the strip, as a fragment."""
    await client.refresh()
    look = Look.from_query(request.GET)
    shown = await tree(request, client, client.session.head if look.at is None else look.at)
    if "strip" in request.GET:
        context = {"key": client.key, "client": client, "branches": shown, "look": look}
        return render(request, "playground/studio/branches.html", context)
    return workbench(request, client, "branches", {"branches": shown, "look": look})


async def tree(request: HttpRequest, client: SessionClient, position: int) -> dict[str, Any]:
    """Return the branches that the strip and the room show."""
    held = await list_recent_keys(request)
    members = await in_thread(family, client.session, client.access, held, client.link)
    return draw_branches([asdict(each) for each in members], position)


def draw_branches(family: Sequence[Mapping[str, Any]], position: int) -> dict[str, Any]:
    """Rows with their lines; x in percent of all steps, y in pixels.

    `family`: name, key, right, at, head, parent (index, -1: none), depth, current, past; each before its branches. `position` is where the
    viewer stands in the current one.
    """
    most = max((each["head"] for each in family), default=0) or 1
    rows = [{**each, **_line(family, i, most)} for i, each in enumerate(family)]
    return {
        "rows": rows,
        "most": most,
        "height": len(rows) * ROW,
        "line": [[row["at"], row["y"]] for row in rows if row["past"]],
        "here": _percent(position, most),
        "here_y": _height(rows, position),
        "tree": _below(rows, -1),
    }


def _height(rows: Sequence[Mapping[str, Any]], position: int) -> int:
    """Return the y coordinate of a position's line in the present session."""
    ys = [row["y"] for row in rows if row["past"] and (row["at"] < position or row["parent"] < 0)]
    return int(ys[-1]) if ys else 0


def _line(family: Sequence[Mapping[str, Any]], i: int, most: int) -> dict[str, Any]:
    each = family[i]
    shared = [other["at"] for other in family if other["parent"] == i and other["past"]]
    return {
        "y": i * ROW + ROW // 2,
        "from": _percent(each["at"], most),
        "to": _percent(each["head"], most),
        "drop": max(each["parent"], 0) * ROW + ROW // 2,
        # how far the current session's own past goes along this line
        "shared": _percent(shared[0], most) if each["past"] and shared else None,
        "short": each["name"].removeprefix(family[0]["name"] + " · ") if i else each["name"],
        "indent": min(each["depth"], DEEPEST),
    }


def _below(rows: Sequence[Mapping[str, Any]], parent: int) -> list[dict[str, Any]]:
    """The branches of one row with their own, for a tree of HTML lists."""
    mine = [i for i, row in enumerate(rows) if row["parent"] == parent]
    return [{"row": rows[i], "branches": _below(rows, i)} for i in mine]


def _percent(position: int, most: int) -> str:
    """Format a percentage for SVG, independent of the locale."""
    return f"{100 * position / most:.3f}%"
