"""Template tags for the words and data of menu entries."""

from typing import Any

import orjson
from django import template
from django.utils.translation import gettext

from playground.workbench.actions.menu import Entry

register = template.Library()
_SENT = ("page", "send", "seek", "fields")


@register.filter
def entry_title(entry: Entry) -> str:
    """Return the entry's words, with an ellipsis if it needs input."""
    title = gettext(entry.title)
    if entry.about:
        title = title % {"name": entry.about}
    return f"{title}…" if entry.form else title


@register.filter
def entry_data(entry: Entry) -> str:
    """Return the entry's data for the page's script, as JSON."""
    data: dict[str, Any] = {name: value for name in _SENT if (value := getattr(entry, name))}
    if entry.said:
        data["said"] = gettext(entry.said) % {"name": entry.about}
    return orjson.dumps(data).decode()
