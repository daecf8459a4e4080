"""Validation of a lesson's declared variants. Errors have the received and expected values and the place."""

from collections.abc import Collection, Iterator
from itertools import chain

from playground.lessons.format import Draw, Scalar, Vary
from playground.lessons.texts import ANSWER
from playground.lessons.varying.values import (
    LARGEST,
    collect_written_values,
    holds,
    is_name,
    number_of,
    places,
    with_derived,
)
from scheduler_core.world.readonly import BadQuantity

MOST_NAMES = 40
MOST_PLACES = 10_000  # of one range
_PAIRS = ("difference", "quotient")


class BadVariation(ValueError):
    """An error in the declared variants of a lesson: `path` says where, as in `vary.draws.cpu`."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


def require_sound(vary: Vary, facts: Collection[str]) -> None:
    """Require values to draw for each name, and original values that meet the requirements. Raise BadVariation."""
    _require_names(vary, facts)
    for name, draw in vary.draws.items():
        _require_drawable(f"vary.draws.{name}", draw)
    for number, shuffle in enumerate(vary.shuffles):
        if len(set(map(str, shuffle.values()))) < max(len(shuffle), 2):
            raise BadVariation(
                f"vary.shuffles[{number}]", f"{list(shuffle.values())}; two or more different values are expected"
            )
    _require_derivable(vary)
    _require_relations(vary, facts)


def _require_names(vary: Vary, facts: Collection[str]) -> None:
    names = list(chain(vary.draws, *vary.shuffles, vary.derived))
    if not 1 <= len(names) <= MOST_NAMES:
        raise BadVariation("vary", f"{len(names)} names; 1 to {MOST_NAMES} are expected")
    for path, name in _places_of(vary):
        if not is_name(name):
            raise BadVariation(path, f"the name “{name}”; small letters, digits and _ are expected, a letter first")
        if names.count(name) > 1:
            raise BadVariation(path, f"the name {name} is declared twice; one place is expected")
        if name in facts or name == ANSWER:
            raise BadVariation(path, f"{name} is the name of a fact already; another name is expected")


def _places_of(vary: Vary) -> Iterator[tuple[str, str]]:
    yield from ((f"vary.draws.{name}", name) for name in vary.draws)
    for number, shuffle in enumerate(vary.shuffles):
        yield from ((f"vary.shuffles[{number}].{name}", name) for name in shuffle)
    yield from ((f"vary.derived.{name}", name) for name in vary.derived)


def _require_drawable(path: str, draw: Draw) -> None:
    if bool(draw.among) == (draw.least is not None or draw.most is not None):
        raise BadVariation(path, "either among, or from and to, is expected")
    if draw.among:
        if len(set(map(str, draw.among))) < max(2, len(draw.among)):
            raise BadVariation(path, f"among {list(draw.among)}; two or more different values are expected")
        kinds = {type(each).__name__ for each in (draw.written, *draw.among)}
        if len(kinds) > 1:
            raise BadVariation(path, f"among {list(draw.among)}; values like {draw.written!r} are expected")
        return
    _require_range(path, draw)


def _require_range(path: str, draw: Draw) -> None:
    if draw.least is None or draw.most is None:
        raise BadVariation(path, "only one of from and to; both are expected")
    bounds: tuple[Scalar, ...] = (draw.least, draw.most, draw.step, draw.written)
    try:
        least, most, step, written = map(number_of, bounds)
    except BadQuantity as error:
        raise BadVariation(path, f"{error}; numbers or quantities are expected of a range") from None
    if isinstance(draw.written, int) and any(isinstance(each, str) for each in bounds):
        raise BadVariation(
            path, f"written is {draw.written} and the range {draw.least} to {draw.most}; whole numbers are expected"
        )
    if step <= 0 or not least < most or max(abs(least), abs(most)) > LARGEST:
        raise BadVariation(path, f"from {draw.least} to {draw.most} by {draw.step}; a range that rises is expected")
    if not least <= written <= most:
        raise BadVariation(path, f"written is {draw.written}; a value from {draw.least} to {draw.most} is expected")
    if not 2 <= places(draw) <= MOST_PLACES:
        raise BadVariation(path, f"the range has {places(draw):,} values; 2 to {MOST_PLACES:,} are expected")


def _require_derivable(vary: Vary) -> None:
    known = set(collect_written_values(vary))
    for name, derived in vary.derived.items():
        path = f"vary.derived.{name}"
        if len(derived) != 1:
            raise BadVariation(path, f"{len(derived)} operations; one is expected")
        ((operation, operands),) = derived.items()
        if len(operands) < 2 or (operation in _PAIRS and len(operands) > 2):
            wanted = "two" if operation in _PAIRS else "two or more"
            raise BadVariation(path, f"{operation} of {len(operands)} values; {wanted} are expected")
        for operand in operands:
            if is_name(operand) and operand not in known:
                raise BadVariation(path, f"{operand} is no value; one of {', '.join(sorted(known))} is expected")
        known.add(name)
    try:
        with_derived(vary, collect_written_values(vary))
    except ValueError as error:
        raise BadVariation("vary.derived", str(error)) from None


def _require_relations(vary: Vary, facts: Collection[str]) -> None:
    values = with_derived(vary, collect_written_values(vary))
    for number, require in enumerate(vary.require):
        path = f"vary.require[{number}]"
        operands = list(chain(*require.values()))
        if not require or any(len(each) < 2 for each in require.values()):
            raise BadVariation(path, "a relation of two or more values is expected")
        for operand in operands:
            if is_name(operand) and operand not in values and operand not in facts:
                known = ", ".join(sorted({*values, *facts}))
                raise BadVariation(path, f"{operand} is neither a value nor a fact; one of {known} is expected")
        if not (set(map(str, operands)) & set(facts)) and not holds(require, values):
            raise BadVariation(
                path, f"{format_requirement(vary, number)} does not hold for the values that the lesson is written with"
            )


def format_requirement(vary: Vary, number: int) -> str:
    """Return a requirement in its written form."""
    return ", ".join(
        f"{relation}: [{', '.join(map(str, operands))}]" for relation, operands in vary.require[number].items()
    )
