"""Schedulers as lanes over virtual time: the state of each process, its view of the Lease, and the times with two leaders."""

from typing import Any, TypedDict

from playground.presenters.sentences.records import get_host
from playground.presenters.words import clock, duration, gettext_noop

STATES = {
    "starting": gettext_noop("starting: its informers list every object"),
    "listed": gettext_noop("its informers have synced"),
    "standby": gettext_noop("standby: follows the cluster and makes no decisions"),
    "working": gettext_noop("schedules without leader election"),
    "leading": gettext_noop("leading"),
    "ending": gettext_noop("stopping: starts no new cycle"),
    "ended": gettext_noop("ended"),
}
_ENDED = "ended"
LOGGED = 12  # latest moves of a process


class ShownClock(TypedDict):
    """`offset` is "" for an accurate clock. `own`: the clock runs at another rate."""

    shows: str
    offset: str
    own: bool
    rate: float


class ShownElection(TypedDict):
    """The Lease as a process observes it. `over`: the process would acquire it now."""

    lease: str
    leader: str
    seen: str | None
    left: str | None
    over: bool
    next: str | None
    durations: list[str]


class DoubleLead(TypedDict):
    x: float
    width: float


class LogLine(TypedDict):
    t: str
    position: int
    text: str
    leader: str
    cut_off: bool


class Replica(TypedDict):
    """A scheduler's process as a lane from `since` until now."""

    name: str
    stage: str
    state: str
    lane: "list[Span]"
    doubled: list[DoubleLead]
    two_lead: bool
    since: str
    clock: ShownClock
    cut_off: bool
    election: ShownElection | None
    exitCode: int | None
    log: list[LogLine]


def replicas(rows: list[dict[str, Any]], now: int) -> list[Replica]:
    """Return a lane for each process. All have one axis: from the first start until now."""
    begin = min((move["t"] for row in rows for move in row["moves"]), default=now)
    spans = {
        row["name"]: _spans(row["moves"] or [{"t": begin, "state": row["stage"], "cutOff": False}], now) for row in rows
    }
    doubled = _find_double_leaders(rows, spans)
    return [
        {
            "name": row["name"],
            "stage": row["stage"],
            "state": STATES[row["stage"]],
            "lane": [_present_span(span, begin, now) for span in spans[row["name"]]],
            "doubled": [
                {"x": _share(a, begin, now), "width": _share(b, begin, now) - _share(a, begin, now)}
                for a, b in doubled.get(row["name"], ())
            ],
            "two_lead": bool(doubled.get(row["name"])),
            "since": clock(begin),
            "clock": _clock(row["clock"]),
            "cut_off": row["cutOff"] is not None,
            "election": _election(row["election"], now),
            "exitCode": row["exitCode"],
            "log": [
                {
                    "t": clock(move["t"]),
                    "position": move["position"],
                    "text": STATES[move["state"]],
                    "leader": get_host(move["leader"]),
                    "cut_off": move["cutOff"],
                }
                for move in row["moves"][: -LOGGED - 1 : -1]
            ],
        }
        for row in rows
    ]


class Span(TypedDict):
    state: str
    cut_off: bool
    x: float
    width: float
    title: str
    began: str
    lasted: str


def lane(moves: list[dict[str, Any]], begin: int, now: int) -> list[Span]:
    """Return the states of one process over virtual time."""
    return [_present_span(span, begin, now) for span in _spans(moves, now)]


def _spans(moves: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    """Return the spans from each move to the next; those without a length are omitted."""
    ends = [move["t"] for move in moves[1:]] + ([now] if moves else [])
    return [
        {"from": move["t"], "to": end, "state": move["state"], "cut_off": move["cutOff"]}
        for move, end in zip(moves, ends, strict=True)
        if end > move["t"] and move["state"] != _ENDED
    ]


def _find_double_leaders(
    rows: list[dict[str, Any]], spans: dict[str, list[dict[str, Any]]]
) -> dict[str, list[tuple[int, int]]]:
    """Return the spans in which a replica led while another one led with the same Lease."""
    lease = {row["name"]: row["election"]["lease"] for row in rows if row["election"]}
    leading = {
        name: [(span["from"], span["to"]) for span in spans[name] if span["state"] == "leading"] for name in lease
    }
    return {
        name: [
            (max(a, c), min(b, d))
            for other in leading
            if other != name and lease[other] == lease[name]
            for a, b in leading[name]
            for c, d in leading[other]
            if max(a, c) < min(b, d)
        ]
        for name in lease
    }


def _present_span(span: dict[str, Any], begin: int, now: int) -> Span:
    x = _share(span["from"], begin, now)
    return {
        "state": span["state"],
        "cut_off": span["cut_off"],
        "x": x,
        "width": max(round(_share(span["to"], begin, now) - x, 3), 0.15),
        "title": STATES[span["state"]],
        "began": clock(span["from"]),
        "lasted": duration(span["to"] - span["from"]),
    }


def _share(t: int, begin: int, now: int) -> float:
    """Return a time in percent of the axis."""
    return round(100 * (t - begin) / max(now - begin, 1), 3)


def _clock(of: dict[str, Any]) -> ShownClock:
    offset = of["offset"]
    sign = "−" if offset < 0 else "+"
    shown = f"{sign}{duration(abs(offset))}" if offset else ""
    return {"shows": of["shows"], "offset": shown, "own": of["rate"] != 1.0, "rate": of["rate"]}


def _election(of: dict[str, Any] | None, now: int) -> ShownElection | None:
    if of is None:
        return None
    return {
        "lease": of["lease"],
        "leader": get_host(of["leader"]),
        "seen": None if of["seen"] is None else duration(max(now - of["seen"], 0)),
        "left": None if of["until"] is None else duration(max(of["until"] - now, 0)),
        "over": of["until"] is not None and of["until"] <= now,
        "next": None if of["next"] is None else duration(max(of["next"] - now, 0)),
        "durations": [duration(each) for each in of["durations"]],
    }
