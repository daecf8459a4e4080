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


@register.filter
def action_word(action: str) -> str:
    """An action of the import's preview, in the reader's language."""
    return str(_ACTIONS.get(action, action))
