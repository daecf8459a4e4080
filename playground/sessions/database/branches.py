"""The family of a session: its origin, its forks, and which of these a key may see.

A key reaches, by these rules and nothing else (docs/time-travel.md):
- its own session, with its own right;
- the branches of a session that it reaches, with the same right. A *branch* is a fork that was made with its origin's edit key; a copy
  made with a view link, or by Duplicate, belongs to its creator alone, and no other session leads to it;
- with the edit key: the origin of its own session, to view; and if its own session is a branch, whose creator had the origin's edit key,
  all that the origin reaches.

All functions are synchronous; they run in database threads.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from django.db.models import Q
from django.utils.translation import gettext as _

from playground.models import Session
from playground.sessions.database.asking import repeatable

MOST = 200
DEEPEST = 64
NAME_LENGTH = 120
DESCRIPTION_LENGTH = 80  # of the description in a fork's name: part of the origin's name remains before it
_FIELDS = ("name", "edit_key", "view_key", "origin", "origin_position", "branch", "head", "created", "deleted")
_NUMBERED = re.compile(r" · \D{1,24} \d{1,6}$")

Right = Literal["edit", "view"]


@dataclass(frozen=True)
class Branch:
    """One session of a family. `key` opens it ("" if it was deleted), `at` the position where it leaves `parent` (an index, -1: none)."""

    name: str
    key: str
    right: Right
    at: int
    head: int
    parent: int
    depth: int
    current: bool
    past: bool  # part of the current session's past belongs to this one
    created: datetime


@dataclass
class _Member:
    session: Session
    right: Right
    parent: "_Member | None"
    children: "list[_Member]" = field(default_factory=list)

    @property
    def at(self) -> int:
        return self.session.origin_position or 0 if self.parent is not None else 0


@repeatable
def family(session: Session, right: Right, held: Container[str] = (), link: str = "") -> list[Branch]:
    """Return the sessions that a key reaches, each before its branches, the latest branch first; at most MOST sessions.

    A view link that ends (`link`) reaches its session alone.

    `held` are further keys of the visitor: an edit key among them opens its session, and the branches of that session, to edit. A fork of
    a branch from a step before that branch began belongs to the ancestor whose line has the step.
    """
    if link:
        return [replace(each, key=link) for each in _flat(_Member(session, "view", None), session)]
    line = _line(session) if right == "edit" else [session]
    members = _list_reachable_members(session, right, line, held)
    for member in members[1:]:
        parent = member.parent
        while parent is not None and parent.parent is not None and member.at <= parent.at:
            parent = parent.parent
        member.parent = parent
    for member in sorted(members[1:], key=lambda member: (-member.at, member.session.pk)):
        assert member.parent is not None
        member.parent.children.append(member)
    _prune(members[0])
    return list(_flat(members[0], session))


def _list_reachable_members(session: Session, right: Right, line: list[Session], held: Container[str]) -> list[_Member]:
    """Return the sessions that a key reaches, level by level, each with its origin as its parent."""
    own = {ancestor.pk for ancestor in line}

    def right_to(other: Session, inherited: Right) -> Right:
        return right if other.pk == session.pk else "edit" if other.edit_key in held else inherited

    level = [_Member(line[-1], right_to(line[-1], "view"), None)]
    members = list(level)
    while level and len(members) < MOST:
        by_id = {member.session.pk: member for member in level}
        forks = Session.objects.filter(origin_id__in=by_id).filter(Q(branch=True) | Q(pk__in=own))
        level = []
        for child in forks.only(*_FIELDS).order_by("pk")[: MOST - len(members)]:
            parent = by_id[child.origin_id or 0]
            level.append(_Member(child, right_to(child, parent.right), parent))
        members += level
    return members


def _line(session: Session) -> list[Session]:
    """Return the session, its origin, the origin of that, and so on, as far as the session's edit key reaches."""
    line = [session]
    while (above := line[-1].origin) is not None and len(line) < DEEPEST:
        line.append(above)
        if not line[-2].branch:
            break
    return line


def _prune(member: _Member) -> bool:
    """Remove deleted sessions unless a session that exists was forked from them; return whether any session is left."""
    member.children = [child for child in member.children if _prune(child)]
    return bool(member.children) or member.session.deleted is None


def _flat(root: _Member, session: Session) -> Iterator[Branch]:
    own = _past(root, session)
    rows, waiting = 0, [(root, -1, 0)]
    while waiting:
        member, parent, depth = waiting.pop()
        shown = member.session
        key = shown.edit_key if member.right == "edit" else shown.view_key
        yield Branch(
            name=shown.name,
            key="" if shown.deleted else key,
            right=member.right,
            at=member.at,
            head=shown.head,
            parent=parent,
            depth=depth,
            current=shown.pk == session.pk,
            past=shown.pk in own,
            created=shown.created,
        )
        waiting += [(child, rows, depth + 1) for child in reversed(member.children)]
        rows += 1


def _past(root: _Member, session: Session) -> set[int]:
    """Return the ids of the sessions that contain the past of the present one."""
    waiting = [root]
    while waiting:
        member: _Member | None = waiting.pop()
        assert member is not None
        if member.session.pk == session.pk:
            own = set()
            while member is not None:
                own.add(member.session.pk)
                member = member.parent
            return own
        waiting += member.children
    return {session.pk}


def next_name(origin: Session) -> str:
    """Return a name for a new fork of a session: the origin's name with the first number that its family has not used."""
    base = _NUMBERED.sub("", origin.name)
    number, names = 1, _names(origin)
    while (name := _append_ending(base, _("branch %(number)d") % {"number": number})) in names:
        number += 1
    return name


def build_fork_name(origin: Session, what: str) -> str:
    """Return a name for a fork with the text `what`, and a number if the family has that name already."""
    base = _NUMBERED.sub("", origin.name)
    what = what if len(what) <= DESCRIPTION_LENGTH else what[: DESCRIPTION_LENGTH - 1] + "…"
    number, names = 1, _names(origin)
    while (name := _append_ending(base, what if number == 1 else f"{what} ({number})")) in names:
        number += 1
    return name


def _names(origin: Session) -> set[str]:
    """Return the names in a session's family."""
    root = _line(origin)[-1]
    names = {root.name, origin.name}
    level, seen = [root.pk], 1
    while level and seen < MOST:
        forks = list(Session.objects.filter(origin_id__in=level).values_list("pk", "name")[: MOST - seen])
        names |= {name for _pk, name in forks}
        level, seen = [pk for pk, _name in forks], seen + len(forks)
    return names


def _append_ending(base: str, ending: str) -> str:
    ending = " · " + ending
    return base[: NAME_LENGTH - len(ending)] + ending
