"""Words for what an import would do."""

from django import template
from django.utils.translation import gettext_lazy as _

register = template.Library()
_ACTIONS = {
    "created": _("created"),
    "changed": _("changed"),
    "unchanged": _("unchanged"),
    "ignored": _("ignored"),
    "refused": _("refused"),
}
# How a field of an older configuration fares in v1 (scheduler_core's Change), with the tone of its tag.
_CHANGES = {
    "moved": (_("changed"), "changed"),
    "kept": (_("written out"), "created"),
    "dropped": (_("dropped"), ""),
    "lost": (_("lost"), "refused"),
}


@register.filter
def change_word(kind: str) -> str:
    """A kind of change of a configuration that is turned into v1, in the reader's language."""
    return str(_CHANGES[kind][0])


@register.filter
def change_tone(kind: str) -> str:
    """The class of its tag."""
    return _CHANGES[kind][1]


@register.filter
def action_word(action: str) -> str:
    """An action of the import's preview, in the reader's language."""
    return str(_ACTIONS.get(action, action))
