"""Messages: a text to translate and the values to put into it, both plain data.

Presenters know no Django, so they mark messages for the catalogs and leave the translating to the templates' `translated` filter.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Message(TypedDict):
    """`text` is translated and gets `values`; `exact`, a name or a text of kube's, is shown instead as it is."""

    text: str
    values: NotRequired[dict[str, object]]
    exact: NotRequired[str]


def gettext_noop(message: str) -> str:
    """Marks a message for makemessages."""
    return message


def message(text: str, /, **values: object) -> Message:
    """A message with its values; one named in the text as %(name)s is shown as code where it is a name of an object."""
    return {"text": text, "values": values} if values else {"text": text}


def in_english(said: Message) -> str:
    """A message as it is for programs and logs: in the language it was written in."""
    return said.get("exact") or (said["text"] % values if (values := said.get("values")) else said["text"])


def exactly(text: str) -> Message:
    """Something that is shown as it is, in any language."""
    return {"text": "", "exact": text}
