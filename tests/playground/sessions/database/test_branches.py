"""A session's family: what each key reaches, and nothing more."""

from __future__ import annotations

import pytest
from django.test import Client

from playground.models import Session
from playground.sessions.database import log
from playground.sessions.database.branches import build_fork_name, family

pytestmark = pytest.mark.django_db


def begin(name: str = "Root", head: int = 10) -> Session:
    session = log.create(name, "", "")
    Session.objects.filter(pk=session.pk).update(head=head)
    return reread(session)


def fork(origin: Session, at: int = 2, branch: bool = True, name: str = "") -> Session:
    return log.copy(origin.pk, at, name, "", branch)


def reread(session: Session) -> Session:
    return Session.objects.get(pk=session.pk)


def seen(session: Session, right: str = "edit") -> dict[str, str]:
    """Name -> the right with which each session is reached."""
    reached = family(reread(session), right)
    for each in reached:
        one = Session.objects.get(name=each.name)
        assert each.key in ("", getattr(one, f"{each.right}_key"))
    return {each.name: each.right for each in reached}


def test_an_edit_key_reaches_the_branches_of_its_session_to_edit() -> None:
    root = begin()
    fork(fork(root, name="a"), name="b")
    assert seen(root) == {"Root": "edit", "a": "edit", "b": "edit"}


def test_a_view_key_reaches_the_branches_of_its_session_to_look_at() -> None:
    root = begin()
    fork(root, name="a")
    assert seen(root, "view") == {"Root": "view", "a": "view"}


def test_an_edit_key_of_a_branch_reaches_its_origin_and_sisters_to_look_at() -> None:
    root = begin()
    a, _ = fork(root, name="a"), fork(root, name="b")
    assert seen(a) == {"Root": "view", "a": "edit", "b": "view"}


def test_an_edit_key_that_the_visitor_has_besides_opens_its_session_to_edit() -> None:
    root = begin()
    a, _ = fork(root, name="a"), fork(root, name="b")
    rights = {each.name: each.right for each in family(reread(a), "edit", [root.edit_key])}
    assert rights == {"Root": "edit", "a": "edit", "b": "edit"}


def test_a_view_link_stays_one_even_for_who_has_the_edit_key_besides() -> None:
    root = begin()
    fork(root, name="a")
    assert [each.right for each in family(reread(root), "view", [root.edit_key])] == ["view", "view"]


def test_a_view_key_of_a_branch_reaches_nothing_above_it() -> None:
    root = begin()
    a = fork(root, name="a")
    assert seen(a, "view") == {"a": "view"}


def test_a_copy_made_with_a_view_link_is_found_from_nowhere() -> None:
    root = begin()
    fork(root, name="mine", branch=False)
    assert seen(root) == {"Root": "edit"}


def test_a_copy_made_with_a_view_link_reaches_no_further_than_that_link() -> None:
    root = begin()
    given = fork(root, name="given")
    copy = fork(given, name="copy", branch=False)
    assert seen(copy) == {"given": "view", "copy": "edit"}


def test_a_deleted_branch_is_not_shown_unless_something_was_forked_from_it() -> None:
    root = begin()
    a, b = fork(root, name="a"), fork(root, name="b")
    fork(a, 5, name="c")
    log.delete(a.pk)
    log.delete(b.pk)
    assert [(each.name, bool(each.key)) for each in family(root, "edit")] == [("Root", True), ("a", False), ("c", True)]


def test_the_latest_branch_comes_first_so_that_no_lines_cross() -> None:
    root = begin()
    for at in (2, 7, 4):
        fork(root, at, name=f"at {at}")
    assert [(each.at, each.parent, each.depth) for each in family(root, "edit")] == [
        (0, -1, 0),
        (7, 0, 1),
        (4, 0, 1),
        (2, 0, 1),
    ]


def test_a_fork_from_before_its_origin_began_leaves_the_line_of_that_step() -> None:
    root = begin()
    late = fork(root, 7, name="late")
    fork(late, 3, name="early")
    assert [(each.name, each.parent) for each in family(root, "edit")] == [("Root", -1), ("late", 0), ("early", 0)]


def test_forks_are_numbered_within_their_family() -> None:
    root = begin("My cluster")
    names = [fork(root).name, fork(fork(root)).name]
    assert names == ["My cluster · branch 1", "My cluster · branch 3"]


def test_a_long_name_is_cut_for_its_number() -> None:
    name = fork(begin("x" * 120)).name
    assert (len(name), name[-11:]) == (120, " · branch 1")


def test_a_name_that_says_much_leaves_room_for_the_origins_and_for_a_number() -> None:
    root = begin("cluster")
    first = build_fork_name(root, "without " + "y" * 200)
    assert first.startswith("cluster · without yyy") and len(first) <= 120
    fork(root, name=first)
    assert build_fork_name(root, "without " + "y" * 200) == f"{first} (2)"


@pytest.mark.django_db(transaction=True)
def test_the_room_of_a_view_link_holds_no_edit_key() -> None:
    root = begin()
    branch = fork(root, name="a")
    shown = Client().get(f"/s/{root.view_key}/branches").content.decode()
    assert branch.view_key in shown
    assert root.edit_key not in shown
    assert branch.edit_key not in shown


@pytest.mark.django_db(transaction=True)
def test_a_branch_is_renamed_from_the_room() -> None:
    root = begin()
    branch = fork(root)
    answer = Client().post(f"/s/{branch.edit_key}/rename", {"name": "More memory", "back": root.edit_key})
    assert (answer["Location"], reread(branch).name) == (f"/s/{root.edit_key}/branches", "More memory")
