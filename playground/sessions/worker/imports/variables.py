"""Variables of a shell that nobody has filled in, where objects were refused for them: `${REPLICAS:-1}`, `$IMAGE`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.presenters.words import gettext_noop
from playground.sessions.worker.world import Item
from scheduler_core.formats.manifests import Note

VARIABLES = gettext_noop("Values such as %(value)s are variables that are still to be filled in: %(command)s")
COMMAND = "envsubst < FILE"
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w{0,80}[^{}\"\n]{0,80}\}|\$[A-Z][A-Z0-9_]{1,80}\b")


def variables_in(items: Sequence[Item]) -> list[Note]:
    """Return a note on what to do first, for the first variable among the items' errors."""
    texts = (error.text for item in items for error in item.errors)
    found = next((match for text in texts if (match := _VARIABLE.search(text))), None)
    return [] if found is None else [Note(VARIABLES, {"value": found[0], "command": COMMAND})]
