"""The deeds of controllers in the reader's language: the engine notes them in English, clause by clause, and each is known by its form.

A clause of another form, and what kube itself says, is shown as it is.
"""

from functools import reduce
from pathlib import Path

from playground.common.catalogs import read_yaml
from playground.presenters.words import Message, exactly, gettext_noop, match_text, message

# The forms of clauses, and those that are said better than the engine notes them.
WORDS = Path(__file__).with_name("deeds.yaml")
_BOTH = gettext_noop("%(first)s; %(rest)s")


def describe_deeds(did: str) -> Message:
    """Return what a controller did, clause by clause."""
    clauses = [_describe_clause(each) for each in did.split("; ")]
    return reduce(lambda rest, first: message(_BOTH, first=first, rest=rest), clauses[-2::-1], clauses[-1])


def _describe_clause(clause: str) -> Message:
    words = read_yaml(WORDS)
    found = match_text((*words["better"], *words["forms"]), clause)
    if found is None:
        return exactly(clause)
    form, values = found
    return message(
        words["better"].get(form, form),
        **{name: _describe_clause(value) if name == "why" else value for name, value in values.items()},
    )
