"""The glossary: each term in a sentence or two, with the sections that describe it. The page `/terms` lists all terms.

Each group has a YAML file in this folder, which `make messages` reads.
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
    """A term of kube or of the playground. `title` and `text` are translated. A term without a title is a name of kube.

    `docs` is our own document about the term, else the group's.
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
    """Return all terms, by group."""
    folder = Path(__file__).parent
    groups = tuple(msgspec.convert(read_yaml(folder / f"{name}.yaml"), Group) for name in GROUPS)
    for group in groups:
        for name, term in group.terms.items():
            term.title, term.docs = term.title or name, term.docs or group.docs
    return groups


@lru_cache(maxsize=1)
def read_terms() -> dict[str, Term]:
    """Return all terms, by name."""
    return {name: term for group in read_groups() for name, term in group.terms.items()}
