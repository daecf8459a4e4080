"""What a text with configurations comes to: what was found in it, as v1, with what changed as a list and as a diff."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from msgspec import structs

from playground.sessions.protocol import adopting
from playground.sessions.protocol.errors import FieldProblem
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Simulation
from playground.workbench.builder import fragment, to_yaml
from scheduler_core.formats.configurations import Adoption, Found, adopt, find, find_in, rewrite_text
from scheduler_core.scheduler.config import ConfigurationError, load_configuration, with_own
from scheduler_core.world.readonly import FieldError, InvalidObject, Loaded, LoadLimits

MOST_BYTES = 128 << 10
MOST_OFFERS = 10
MOST_ROWS = 200  # of a list; each is looked for in the text
MOST_LINES = 800  # of each side of a diff
CONTEXT = 2


@answers(adopting.AdoptConfiguration)
def adopt_configuration(engine: Engine, request: adopting.AdoptConfiguration) -> Steps[adopting.Adopted]:
    world = yield from engine.at(request.position)
    try:
        found = find(request.text, LoadLimits(max_bytes=MOST_BYTES))
    except InvalidObject as error:
        return adopting.Adopted(errors=problems(error.errors))
    adoptions = []
    for each in found[:MOST_OFFERS]:
        with with_own(engine.world.settings.plugins):
            adoptions.append(_adopt_found(world, each))
        yield
    if len(adoptions) == 1 and adoptions[0].plain:
        return adopting.Adopted(manifest=dict(adoptions[0].manifest))
    errors = _list_configuration_problems(world, found[0]) if len(adoptions) == 1 and not found[0].where else []
    if len(adoptions) == 1:
        return adopting.Adopted(offers=[_with_its_text(offer(adoptions[0]), adoptions[0], request.text)], errors=errors)
    return adopting.Adopted(offers=[offer(each) for each in adoptions], errors=errors)


def _with_its_text(made: adopting.Offer, adoption: Adoption, text: str) -> adopting.Offer:
    """An offer whose texts keep the lines of the text that do not change, where it is nothing but the configuration."""
    found = adoption.found
    if found.where or found.what != "configuration" or not adoption.manifest:
        return made
    new = [rewrite_text(text, found.manifest, each, fragment) for each in (adoption.manifest, adoption.without) if each]
    if any(each is None for each in new):
        return made
    whole, last = str(new[0]), str(new[-1])
    without = last if adoption.without else ""
    return structs.replace(made, text=whole, without=without, diff=list(_compare_lines(text, last)), kept=True)


def _adopt_found(world: Simulation, found: Found) -> Adoption:
    return adopt(found, world.settings.features, world.settings.plugins)


def offers(world: Simulation, loaded: Sequence[Loaded], text: str) -> list[adopting.Offer]:
    """The configurations in the documents of an import, each once; flags that say no more than kubeadm's are passed over."""
    found = [each for each in find_in(loaded, text) if not each.usual]
    once: list[Found] = []
    for each in found:
        if all(each.manifest != other.manifest for other in once):
            once.append(each)
    return [offer(_adopt_found(world, each)) for each in once[:MOST_OFFERS]]


def offer(adoption: Adoption) -> adopting.Offer:
    """An adoption as it is shown."""
    found = adoption.found
    text = _text(adoption.manifest)
    without = "" if adoption.without is None else _text(adoption.without)
    return adopting.Offer(
        found.what,
        found.where,
        found.line,
        adoption.version,
        adoption.release,
        [
            adopting.ListedChange(each.kind, _line(found, each.path), each.text, each.effect)
            for each in adoption.changes[:MOST_ROWS]
        ],
        [
            adopting.MissingPlugin(each.name, list(each.points), _line(found, each.places[0]), each.about)
            for each in adoption.unknown[:MOST_ROWS]
        ],
        text,
        without,
        list(_diff(found, without or text)),
        problems(adoption.errors),
        found.gates,
        found.config_file,
    )


def problems(errors: Iterable[FieldError]) -> list[FieldProblem]:
    return [FieldProblem(**each.to_json()) for each in errors]


def _line(found: Found, path: str) -> int | None:
    place = found.locate(path) if path else None
    return place[0] if place is not None else None


def _text(manifest: Mapping[str, Any]) -> str:
    return to_yaml([manifest]) if manifest else ""


def _list_configuration_problems(world: Simulation, found: Found) -> list[FieldProblem]:
    """Return kube-scheduler's errors in a configuration as it is."""
    if found.errors or found.what != "configuration":
        return []
    try:
        load_configuration(found.manifest, world.settings.features, elections=True, own=world.settings.plugins)
    except ConfigurationError as error:
        return problems(each.at(found.locate(each.path)) for each in error.errors[:MOST_ROWS])
    return []


def _diff(found: Found, text: str) -> Iterator[adopting.DiffLine]:
    """Yield the differences from the document, written in the same way, to the v1 text; nothing if it is no configuration."""
    if found.what == "configuration":
        yield from _compare_lines(_text(found.manifest), text)


def _compare_lines(old: str, new: str) -> Iterator[adopting.DiffLine]:
    before, after = old.splitlines(), new.splitlines()
    if not after or max(len(before), len(after)) > MOST_LINES:
        return
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT)
    for number, group in enumerate(groups):
        if number:
            yield adopting.DiffLine("…", "")
        for tag, start, end, first, last in group:
            if tag == "equal":
                yield from (adopting.DiffLine(" ", line) for line in before[start:end])
            else:
                yield from (adopting.DiffLine("-", line) for line in before[start:end])
                yield from (adopting.DiffLine("+", line) for line in after[first:last])
