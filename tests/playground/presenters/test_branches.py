"""The strip of branches as a drawing."""

from __future__ import annotations

from typing import Any

from playground.views.sharing import ROW, draw_branches


def row(name: str, at: int, head: int, parent: int = -1, depth: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "at": at, "head": head, "parent": parent, "depth": depth, "key": "k", "right": "edit",
            "current": False, "past": False, **more}  # fmt: skip


FAMILY = [
    row("root", 0, 200, past=True),
    row("late", 150, 180, 0, 1),
    row("early", 50, 100, 0, 1, past=True, current=True),
]


def test_a_branch_leaves_its_origins_line_where_it_was_forked() -> None:
    rows = draw_branches(FAMILY, 100)["rows"]
    assert (rows[2]["from"], rows[2]["to"]) == ("25.000%", "50.000%")
    assert (rows[2]["drop"], rows[2]["y"]) == (ROW // 2, 2 * ROW + ROW // 2)


def test_the_past_that_the_session_shares_is_marked_on_its_origins_line() -> None:
    assert [each["shared"] for each in draw_branches(FAMILY, 100)["rows"]] == ["25.000%", None, None]


def test_where_the_viewer_stands_is_on_the_line_of_the_session() -> None:
    shown = draw_branches(FAMILY, 60)
    assert (shown["here"], shown["here_y"]) == ("30.000%", 2 * ROW + ROW // 2)


def test_before_its_fork_the_viewer_stands_on_the_line_of_its_origin() -> None:
    assert draw_branches(FAMILY, 50)["here_y"] == ROW // 2


def names(tree: list[dict[str, Any]]) -> list[Any]:
    return [(each["row"]["name"], names(each["branches"])) for each in tree]


def test_branches_are_listed_below_what_they_were_forked_from() -> None:
    deep = [row("a", 0, 9), row("b", 5, 9, 0, 1), row("c", 6, 9, 1, 2), row("d", 2, 9, 0, 1), row("e", 3, 9, 3, 2)]
    assert names(draw_branches(deep, 0)["tree"]) == [("a", [("b", [("c", [])]), ("d", [("e", [])])])]


def test_a_session_without_steps_can_be_drawn() -> None:
    assert draw_branches([row("a", 0, 0)], 0)["rows"][0]["to"] == "0.000%"
