"""Sentences that a presenter tells: a message to translate and the values to put into it, both plain data.

Presenters know no Django, so they mark messages for the catalogs and leave the translating to the templates' `translated` filter.
"""

from __future__ import annotations

from typing import Any

Told = dict[str, Any]


def gettext_noop(message: str) -> str:
    """Marks a message for makemessages."""
    return message


def told(message: str, /, **values: Any) -> Told:
    """A message and its values. A value named in the message as %(name)s is shown as code where it is a name of an object."""
    return {"text": message, "values": values} if values else {"text": message}
