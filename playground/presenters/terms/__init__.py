"""Terms that people meet on the page, each in a sentence or two, with the sections that describe it. The page `/terms` lists them all.

Their words are in the YAML files of this folder, a file for each group: `make messages` reads them from there.
"""

from functools import lru_cache
from pathlib import Path

import msgspec

from playground.common.catalogs import read_yaml

GROUPS = ("points", "plugins", "queues", "preemption", "scores", "binding", "controllers")


class Source(msgspec.Struct, frozen=True):
    """A section of a reference document, by its heading."""

    document: str
    section: str


class Term(msgspec.Struct):
    """A term of kube's or ours. `title` and `text` are translated; without a title, the term is a name of kube's and has no other words.

    `docs` is our own document about it, that of the group if the term has none.
    """

    text: str
    title: str = ""
    docs: str = ""
    sources: tuple[Source, ...] = ()


class Group(msgspec.Struct):
    """A group of terms: a file of this folder."""

    title: str
    docs: str
    terms: dict[str, Term]


@lru_cache(maxsize=1)
def read_groups() -> tuple[Group, ...]:
    """All terms, by their groups."""
    folder = Path(__file__).parent
    groups = tuple(msgspec.convert(read_yaml(folder / f"{name}.yaml"), Group) for name in GROUPS)
    for group in groups:
        for name, term in group.terms.items():
            term.title, term.docs = term.title or name, term.docs or group.docs
    return groups


@lru_cache(maxsize=1)
def read_terms() -> dict[str, Term]:
    """All terms, by their names."""
    return {name: term for group in read_groups() for name, term in group.terms.items()}
