"""Every sentence template with real fillings, to be read through by a person. `make sentences` writes them to build/sentences.md.

The fillings come from what the presenters say of the situations in tests/real and of the lessons: nothing is made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from playground.features.fixes.presenter import describe_findings
from playground.lessons import read_lessons
from playground.lessons.reading import beginning, command_of
from playground.presenters import PANELS, Look, present
from playground.presenters.commands import describe_omission
from playground.presenters.commands import sentence as describe_command
from playground.presenters.narrator import coming
from playground.presenters.sentences.kinds import row
from playground.presenters.why.panel import present_explanation
from playground.presenters.words import Message, format_message, in_english
from scheduler_core.analysis.explain import explain, explain_uncreated
from scheduler_core.analysis.fixes import Budget, search_fixes
from scheduler_core.formats.manifests import read as read_manifests
from scheduler_core.world.commands import ApplyObjects, Refused
from scheduler_core.world.simulation import Simulation
from tests.messages import ROOT, extract_texts, list_sources, read

WHERE = ROOT / "build" / "sentences.md"
REAL = ROOT / "tests" / "real"
FILLINGS = 3
STEPS = 2_000
LOOKED_AT = 40  # of a world's first steps, all panels


def list_templates() -> dict[str, list[str]]:
    """The texts that stand for sentences, by the module of the presenters that has them, in the order of the module."""
    found = {}
    folders = (ROOT / "playground" / "presenters", ROOT / "playground" / "features")
    for path in (path for path in list_sources() if any(path.is_relative_to(folder) for folder in folders)):
        texts = [text for text, _context, _comments in extract_texts(path) if isinstance(text, str)]
        if said := [text for text in dict.fromkeys(texts) if is_sentence(text)]:
            found[str(path.relative_to(ROOT))] = said
    return found


def is_sentence(text: str) -> bool:
    """Return True if a text is more than a word or a heading."""
    return "%(" in text or text.endswith(".")


def find_messages(data: Any) -> Iterator[Message]:
    """Every message in data of a presenter, those that are values of others, too."""
    if isinstance(data, Mapping):
        if isinstance(data.get("text"), str) and set(data) <= {"text", "values", "exact"}:
            yield data  # type: ignore[misc]
        for each in data.values():
            yield from find_messages(each)
    elif isinstance(data, (list, tuple)):
        for each in data:
            yield from find_messages(each)


def fill(said: Iterable[Message]) -> dict[str, list[Message]]:
    """The first few different fillings of each template."""
    known: dict[str, dict[str, Message]] = {}
    for each in said:
        if not each.get("exact"):
            of_text = known.setdefault(each["text"], {})
            if len(of_text) < FILLINGS:
                of_text.setdefault(in_english(each), each)
    return {text: list(fillings.values()) for text, fillings in known.items()}


def worlds() -> Iterator[Simulation]:
    """The situations of public threads, and the worlds in which lessons begin."""
    for path in sorted(REAL.glob("*/*/objects.yaml")):
        sim = Simulation(seed=1)
        try:
            sim.apply(ApplyObjects(tuple(each.manifest for each in read_manifests(path.read_bytes()).objects)))
        except Refused:
            continue
        yield sim
    for lesson in read_lessons():
        sim = Simulation(seed=1)
        for command in beginning(lesson.plan):
            sim.apply(command)
        yield sim


def list_commands() -> Iterator[Message]:
    """What the lessons have people do."""
    for lesson in read_lessons():
        plan = lesson.plan
        acts = [card.do for card in plan.cards if card.do is not None]
        if plan.task is not None:
            acts += [*plan.task.start, *plan.task.solution]
        for command in (*beginning(plan), *map(command_of, acts)):
            data = msgspec.to_builtins(command)
            yield from find_messages((describe_command(data), describe_omission(data)))


def listen(sim: Simulation) -> Iterator[Message]:
    """What is said while a world runs, and of its pods when it rests."""
    for number in range(STEPS):
        if (said := coming(sim)) is not None:
            yield said
        result = sim.run(steps=1)
        if number < LOOKED_AT:
            yield from look_around(sim)
        for record in result.records:
            yield from find_messages(row(record))
        if result.reason == "idle":
            break
    explained = [each for pod in sim.store.pods() if (each := explain(sim, pod.key)) is not None]
    waiting = [each for each in (*explained, *explain_uncreated(sim)) if each.pending]
    for each in (*explained, *waiting):
        yield from find_messages(present_explanation(each))
    yield from look_around(sim)
    for each in waiting[:2]:
        yield from find_messages(describe_findings(find_all(sim, each.pod).to_json()))


def look_around(sim: Simulation) -> Iterator[Message]:
    """What all panels say to somebody who looks at a pod and at a node."""
    pod = next((each.key for each in sim.store.pods() if not each.node_name), "")
    node = next((str(each["metadata"]["name"]) for each in sim.store.list("Node")), "")
    look = Look(pod=pod, node=node)
    for name in PANELS:
        yield from find_messages(present(name, sim, look).to_json())


def find_all(sim: Simulation, key: str) -> Any:
    """All fixes of a pod, however long they take."""
    search = search_fixes(sim, key, Budget())
    while True:
        try:
            next(search)
        except StopIteration as end:
            return end.value


def write(where: Path) -> tuple[int, int]:
    """Write all templates; return how many there are and how many have no filling."""
    filled = fill(chain(list_commands(), chain.from_iterable(map(listen, worlds()))))
    catalog = read("zh_Hans")
    chinese = {str(each.id): str(each.string) for each in catalog if isinstance(each.id, str) and each.string}
    lines, templates = ["# Sentences", ""], list_templates()
    silent = 0
    for module, texts in templates.items():
        lines += [f"## {module}", ""]
        for text in texts:
            fillings = filled.get(text, [])
            silent += "%(" in text and not fillings
            lines += [f"- `{text}`" + ("" if fillings or "%(" not in text else " (nobody says this here)")]
            for each in fillings:
                lines += [f"  - {in_english(each)}", f"    {format_message(each, lambda t: chinese.get(t, t))}"]
            if not fillings and "%(" not in text:
                lines += [f"    {chinese.get(text, '')}"]
        lines.append("")
    where.parent.mkdir(exist_ok=True)
    where.write_text("\n".join(lines))
    return sum(map(len, templates.values())), silent


if __name__ == "__main__":
    count, silent = write(WHERE)
    print(f"{WHERE.relative_to(ROOT)}: {count} templates, of which {silent} are said in none of the worlds")
