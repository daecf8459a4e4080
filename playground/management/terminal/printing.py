"""Output of commands: tables as kubectl prints them, lines as wide as the terminal, data, and progress."""

import csv
import io
import json
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TextIO

from django.core.management.base import OutputWrapper

from playground.management.explaining import plain
from playground.presenters.why import sentence
from scheduler_core.analysis.explain import Past, explain, explain_uncreated, list_stuck
from scheduler_core.analysis.whatif import FAILED, End, end_of, owners_of, subject_of
from scheduler_core.world.readonly import Pod
from scheduler_core.world.simulation import Simulation

FIELDS = ("namespace", "pod", "node", "attempts", "message", "phase", "reason")
_NONE = {  # by kind: the field of the spec, or of the status, with the desired number of pods
    "Deployment": ("spec", "replicas"),
    "StatefulSet": ("spec", "replicas"),
    "ReplicaSet": ("spec", "replicas"),
    "ReplicationController": ("spec", "replicas"),
    "Job": ("spec", "parallelism"),
    "DaemonSet": ("status", "desiredNumberScheduled"),
}


def placements(world: Simulation, gone: Iterable[End] = ()) -> list[dict[str, Any]]:
    """Return each pod that has not succeeded, by namespace and name: its node ("": none), attempts, phase, and reason for its state.

    `gone`: deleted pods; failed ones among them are included.
    """
    tries, past = Counter(attempt.pod for attempt in world.journal.attempts), Past(world)
    deleted = [
        (*end.pod.split("/"), end.node, tries[end.pod], end.message, FAILED, end.reason) for end in gone if end.failed
    ]
    present = [
        (pod.namespace, pod.name, pod.node_name, tries[pod.key], why_waiting(world, pod, past), pod.phase, reason)
        for pod in world.store.pods()
        if pod.phase == FAILED or not (pod.terminal or pod.deleting)
        for reason in (str((pod.manifest.get("status") or {}).get("reason") or ""),)
    ]
    return [dict(zip(FIELDS, row, strict=True)) for row in (*deleted, *present)]


def waits(row: dict[str, Any]) -> bool:
    """Return True if a pod has no node, or none of its containers has started there."""
    return row["phase"] != FAILED and (not row["node"] or row["phase"] == "Pending")


def missing(world: Simulation) -> list[dict[str, Any]]:
    """Return the workloads whose missing pods no controller creates, and why; an owner represents the workloads that it controls."""
    rows = {}
    for each in explain_uncreated(world):
        evidence = each.reasons[0].evidence
        namespace, _, _ = each.pod.partition("/")
        owner = evidence["owner"]
        rows[str(owner["kind"]), namespace, str(owner["name"])] = {
            "namespace": namespace,
            **owner,
            "pods": evidence["missing"],
            "state": each.state.value,
            "message": each.reasons[0].message,
            "sentence": f"{owner['kind']} {namespace}/{owner['name']}: {plain(sentence(each))}",
        }
    return [row for key, row in rows.items() if not any(o in rows for o in (*owners_of(world.store, key),)[1:])]


def blocked(world: Simulation) -> list[dict[str, str]]:
    """Return the workloads, deletions, and drains that are stuck, and why; without those with a pending or missing pod."""
    known = {(row["kind"], row["namespace"], row["name"]) for row in missing(world)}
    known |= {each for p in world.store.pods() if not p.node_name for each in owners_of(world.store, subject_of(p))}
    found = [
        (each, each.pod.replace("/", " ", 1)) for each in list_stuck(world) if (*each.pod.split("/"),) not in known
    ]
    return [{"subject": each.pod, "sentence": f"{name}: {plain(sentence(each))}"} for each, name in found]


def idle(world: Simulation) -> Iterator[str]:
    """Yield the workloads without desired pods."""
    for kind, (section, field) in _NONE.items():
        for manifest in world.store.list(kind):
            if (manifest.get(section) or {}).get(field) == 0:
                yield f"{_format_object_name(manifest)} asks for none: {section}.{field} is 0."
    for manifest in world.store.list("CronJob"):
        suspended = (manifest.get("spec") or {}).get("suspend")
        yield f"{_format_object_name(manifest)} {'is suspended' if suspended else 'waits for the time of its schedule'}."


def _format_object_name(manifest: Any) -> str:
    meta = manifest["metadata"]
    return f"{manifest['kind']} {meta.get('namespace') or 'default'}/{meta['name']}"


def why_waiting(world: Simulation, pod: Pod, past: Past) -> str:
    """Return the message for a pending or failed pod: kube's own if there is one."""
    if pod.phase == FAILED:
        explained = explain(world, pod.key, past)
        return end_of(pod).message or (explained.reasons[0].message if explained and explained.reasons else "")
    if pod.node_name:
        return "" if pod.phase != "Pending" else _last_event(world, pod)
    last = world.journal.last_attempt.get(pod.key)
    if last is not None and (message := world.journal.attempts[last].message):
        return message
    explained = explain(world, pod.key, past)
    if explained is None:
        return ""
    return explained.reasons[0].message if explained.reasons else plain(sentence(explained))


def _last_event(world: Simulation, pod: Pod) -> str:
    """Return the message of the last warning Event of a pod whose containers have not started."""
    about = (
        event.message
        for event in reversed(world.store.events)
        if (event.kind, event.namespace, event.name) == ("Pod", pod.namespace, pod.name) and event.type == "Warning"
    )
    return next(about, "")


FORMS = ("json", "yaml", "csv")  # for programs
GAP = "   "
NARROWEST = 24  # a column that is wrapped

WIDTH = 30
WIDEST = 78
LONG = 50  # the least number of items for a bar


def get_width() -> int | None:
    """Return the terminal's columns, or None if the output is not a terminal."""
    return max(40, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def wrap(line: str, width: int | None) -> list[str]:
    """Return a line as lines of at most `width` columns, with continuations indented."""
    if width is None or len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """Yield the lines, heads first; the widest columns are wrapped where the table would be wider than `width`."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if width is not None:
        room = width - len(GAP) * (len(heads) - 1)
        while sum(widths) > room and (widest := max(widths)) > NARROWEST:
            widths[widths.index(widest)] -= 1
    for row in (heads, *rows):
        cells = [
            textwrap.wrap(text, most, break_on_hyphens=False) or [""] if len(text) > most else [text]
            for text, most in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, cells))):
            line = [cell[number] if number < len(cell) else "" for cell in cells]
            yield GAP.join(f"{text:<{most}}" for text, most in zip(line, widths, strict=True)).rstrip()


def format_data(data: Mapping[str, Any], fields: Sequence[str], rows: Sequence[Mapping[str, Any]], form: str) -> str:
    """Return the data as JSON or YAML, or these fields of its rows and its release as CSV."""
    if form == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if form == "yaml":
        import yaml

        return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, (*fields, "release"), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "release": data["release"]} for row in rows)
    return stream.getvalue()


def write_answer(out: OutputWrapper, data: Mapping[str, Any], lines: Iterable[str], form: str) -> None:
    """Write lines as wide as the terminal for users, or the data for programs."""
    if form != "text":
        out.write(format_data(data, (), (), form), ending="")
        return
    width = get_width()
    for line in lines:
        out.write("\n".join(wrap(line, width)) or "\n", ending="\n" if line else "")


class Progress:
    """A progress line that is overwritten. Nothing is shown if the stream is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Clear the line for other output."""
        if self._shown:
            self._shown = False
            self._write("\r\033[K")

    def say(self, text: str) -> None:
        """Show the latest finding in one line."""
        self._show(text[:WIDEST])

    def steps(self, done: int) -> None:
        """Show the number of steps so far; the total is unknown."""
        self._show(f"{done:,} steps")

    def part(self, done: int, total: int, what: str) -> None:
        """Show a bar if there are many items."""
        if total >= LONG:
            self._show(f"{'#' * (WIDTH * done // total):<{WIDTH}} {done}/{total} {what}")

    def _show(self, text: str) -> None:
        if self._stream.isatty():
            self._shown = True
            self._write(f"\r{text}\033[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
