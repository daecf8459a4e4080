"""Archives: what checkpoints share is written once, in parts; damaged bytes are told from good ones."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Generator
from typing import TypeVar

import pytest

from scheduler_core.world.checkpoint import Archive, CodecError, decode, encode, encoder, encoding
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.world.checkpoint.rich import seal, walk

T = TypeVar("T")


def at(steps: int) -> Simulation:
    *_, sim = walk(1, steps=steps)
    return sim.fork()


def sealed(archive: Archive) -> bytes:
    part = seal(archive)
    assert part is not None
    return part


def test_a_later_checkpoint_adds_only_what_is_new() -> None:
    archive = Archive()
    encode(at(300), archive)
    first, before = sealed(archive), archive.count
    encode(at(310), archive)
    second = sealed(archive)
    assert archive.count - before < before / 4
    assert len(second) < len(first) / 2


def test_nothing_new_makes_no_part() -> None:
    archive, world = Archive(), at(200)
    encode(world, archive)
    sealed(archive)
    encode(world, archive)
    assert seal(archive) is None


def turns(steps: Generator[None, None, T]) -> tuple[int, T]:
    """In how many turns something was done, and what came of it."""
    for count in itertools.count(1):
        try:
            next(steps)
        except StopIteration as done:
            return count, done.value
    raise AssertionError


def test_large_collections_and_parts_are_written_in_many_turns_and_read_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, whole, archive = at(300), Archive(), Archive()
    few, first = turns(encoding(world, whole))
    once, part = turns(whole.sealing())
    monkeypatch.setattr(encoder, "CHUNK", 4)
    monkeypatch.setattr("scheduler_core.world.checkpoint.archive.AT_ONCE", 1000)
    many, second = turns(encoding(world, archive))
    often, other = turns(archive.sealing())
    assert many > 5 * few
    assert turns(encoder.Encoder(archive).large_collections([*range(10)])) == (4, None)
    assert often > 3 * once
    assert part is not None
    assert other is not None
    assert zlib.decompress(part) == zlib.decompress(other)
    assert encode(decode(first, whole), Archive()) == encode(decode(second, archive), Archive())


def test_the_same_world_made_again_finds_its_manifests_by_content() -> None:
    archive = Archive()
    encode(at(200), archive)
    sealed(archive)
    before = archive.count
    archive.release_when_idle()
    encode(at(200), archive)
    assert archive.count == before


def test_an_earlier_world_is_read_from_a_later_archive() -> None:
    archive = Archive()
    early = encode(at(150), archive)
    encode(at(400), archive)
    other = Archive()
    other.load(sealed(archive))
    assert decode(early, other).journal.moves == at(150).journal.moves


def test_another_history_is_noticed() -> None:
    archive = Archive()
    encode(at(400), archive)
    *_, other = walk(1, steps=400, every=10)
    with pytest.raises(CodecError, match="is not what it was"):
        encode(other.fork(), archive)


@pytest.mark.parametrize("spoil", [lambda b: b[:-9], lambda b: b"x" + b, lambda b: zlib.compress(b"{}"), lambda b: b""])
def test_damaged_bytes_are_refused(spoil) -> None:  # type: ignore[no-untyped-def]
    archive = Archive()
    data = encode(at(100), archive)
    part = sealed(archive)
    with pytest.raises(CodecError):
        decode(spoil(data), archive)
    with pytest.raises(CodecError):
        Archive().load(spoil(part))


def test_a_part_out_of_turn_is_refused() -> None:
    archive = Archive()
    encode(at(100), archive)
    sealed(archive)
    encode(at(400), archive)
    with pytest.raises(CodecError, match="expected 0"):
        Archive().load(sealed(archive))


def test_bytes_that_name_another_class_make_nothing() -> None:
    archive = Archive()
    raw = zlib.decompress(encode(at(100), archive))
    named = raw.replace(b"scheduler_core.base.clock.agenda.Stream", b"scheduler_core.base.clock.agenda.Strobe")
    with pytest.raises(CodecError, match=r"agenda\.Strobe is not read"):
        decode(zlib.compress(named), archive)
