"""The parts of a plugin's explanation (presenters/inspector/figures.py): `{{ cell|explained }}`.

The parts are inline, and the plugin decides where blanks are, so a template could not contain line breaks here.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

register = template.Library()

Part = Mapping[str, Any]
BAR = '<svg class="mini" aria-hidden="true"><rect width="{}%" height="100%"/></svg>'
POD = '<a href="?pod={}" data-pod="{}"><code>{}</code></a>'
# The fields of a look by the kinds that they choose; an object of another kind is chosen as kind/namespace/name.
SUBJECTS = {"Node": "node", "Pod": "pod", "PersistentVolumeClaim": "claim", "ResourceClaim": "claim"}
LEADING = '<a class="leading" href="?{0}={1}&amp;tab={2}&amp;field={3}" data-{0}="{4}" data-tab="{2}" data-field="{5}">{6}</a>'
WRAPPERS = {"code": "<code>{}</code>", "aside": '<span class="by">{}</span>', "below": '<p class="by">{}</p>'}
# In the cell that names its row, what stands below the name is no paragraph.
NAME_WRAPPERS = {**WRAPPERS, "below": "<span>{}</span>"}


@register.filter
def explained(parts: Iterable[Part]) -> SafeString:
    return _line(parts, WRAPPERS)


@register.filter
def explained_name(parts: Iterable[Part]) -> SafeString:
    """The parts of the cell that names its row."""
    return _line(parts, NAME_WRAPPERS)


def _line(parts: Iterable[Part], wrappers: Mapping[str, str]) -> SafeString:
    return mark_safe("".join(_part(part, wrappers) for part in parts))  # noqa: S308 - each part is escaped


def _chosen(kind: str, key: str) -> tuple[str, str]:
    """Return the look's field that selects an object, and its value."""
    if kind in SUBJECTS:
        return SUBJECTS[kind], key
    namespace, _, name = key.rpartition("/")
    return "controller", f"{kind}/{namespace}/{name}"


def _part(part: Part, wrappers: Mapping[str, str]) -> str:
    match part["kind"]:
        case "text":
            return escape(part["text"])
        case "words":
            return escape(gettext(part["text"]))
        case "pod":
            return format_html(POD, quote(part["key"]), part["key"], part["name"])
        case "leading":
            tab, field = ("yaml", part["path"]) if part["path"] else ("summary", "")
            subject, key = _chosen(part["object"], part["key"])
            return format_html(LEADING, subject, quote(key), tab, quote(field), key, field, part["text"])
        case "bar":
            return format_html(BAR, part["percent"])
        case kind:
            return format_html(wrappers[kind], _line(part["parts"], WRAPPERS))
