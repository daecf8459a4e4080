"""Tooltips for terms: `{{ plugin|term }}` for a name, and around words, in panels, `{% term "gated" %}…{% endterm %}`.

The label has the key of its term; the page's script finds the words (static/playground/js/frame/terms.js).
"""

from functools import lru_cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from playground.presenters.terms import read_terms
from playground.templatetags.studio import breakable

register = template.Library()
END = SafeString("</span>")


@register.filter
@lru_cache(maxsize=2048)
def term(name: str) -> SafeString:
    """Return a name that may break between its words, with a tooltip if it is a term."""
    shown = breakable(name)
    return open_term(name) + shown + END if name in read_terms() else shown


@register.filter
def meaning(name: str) -> str:
    """Return the meaning of a term, to be translated; "" if the name is not a term."""
    return read_terms()[name].text if name in read_terms() else ""


def open_term(name: str) -> SafeString:
    """Return the start of a label. Raise an error if the name is not a term."""
    if name not in read_terms():
        raise template.TemplateSyntaxError(f"{name} is no term (playground/presenters/terms)")
    return format_html('<span class="term" data-term="{}">', name)
