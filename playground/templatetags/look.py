"""Links and form fields that change what the viewer looks at, made from the fields that presenters/look.py declares.

    <a {% look_link pod=p.key tab="why" %}>       href="?pod=default%2Fweb" data-pod="default/web" ...: followed without leaving the page
    <a {% look_link node=n.name href_tab="node" %}>  in the address only, for who has no script; the page's own rules open the tab
    <a {% look_link to=studio at=s.at %}>         on another page: leads to `to`; a position is gone to (data-goto)
    <a href="{{ l.href }}" {% look_data start=l.start %}>  where a presenter made the whole address
    <a href="{% url 'studio' key %}{% look_query at=at %}">  an address only; what is None is left out
    <input {% look_field "q" %}>                  a field that the page listens to while it is typed in
    <select {% look_choice "group" %}>

A name that is no field of a look is an error when the template is compiled. Panels write them the same way (templating/tags.py).
"""

from collections.abc import Iterable
from functools import partial
from html import escape
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from django import template
from django.template.base import FilterExpression, Node, Parser, TextNode, Token, token_kwargs
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from playground.presenters.look import FIELDS, Text, declaration

register = template.Library()

HREF_ONLY = "href_"
Value = str | FilterExpression


class Argument(NamedTuple):
    """A field that is set: the beginning of its part of the address, and its attribute, if any."""

    query: str
    attribute: str


def argument(tag: str, name: str) -> Argument:
    """Return a tag's notation of a field; raise TemplateSyntaxError if the field does not exist."""
    field = name.removeprefix(HREF_ONLY)
    field_of(tag, field)
    query = "" if tag == "look_data" else f"{field}="
    attribute = "" if tag == "look_query" or field != name else f' data-{"goto" if name == "at" else name}="'
    return Argument(query, attribute)


def format_link_attributes(values: Iterable[Any], arguments: Iterable[tuple[str, str]], to: Any = None) -> SafeString:
    """Return the address with the set fields (as `href` if there is a target) and the data attributes."""
    query, data = [], []
    for value, (start, attribute) in zip(values, arguments, strict=True):
        if start and value is not None:
            query.append(start + quote(str(value)))
        if attribute and not (value is None and "goto" in attribute):  # no position: the script stays where it is
            data.append(attribute + escape("" if value is None else str(value)) + '"')
    address = "?" + "&amp;".join(query) if query else ""
    if to is not None:
        address = f'href="{escape(str(to))}{address}"'
    return SafeString((address + "".join(data)).lstrip())  # every value is quoted or escaped


def field_of(tag: str, name: str) -> Any:
    if name not in FIELDS:
        raise template.TemplateSyntaxError(f"{tag}: a look has no field {name}; it has {', '.join(FIELDS)}")
    return FIELDS[name]


def format_field_attributes(tag: str, name: str) -> str:
    """The attributes of an input (look_field) or a select (look_choice) for a field."""
    kind = field_of(tag, name).kind
    limit = f' maxlength="{kind.most}"' if tag == "look_field" and isinstance(kind, Text) else ""
    return f'name="{name}" data-look="{name}"{limit}'


class LookNode(Node):
    def __init__(self, values: list[Value], arguments: list[Argument], to: Value | None) -> None:
        self.values, self.arguments, self.to = values, arguments, to

    def render(self, context: Context) -> SafeString:
        values = (
            value if isinstance(value, str) else value.resolve(context, ignore_failures=True) for value in self.values
        )
        to = self.to.resolve(context) if isinstance(self.to, FilterExpression) else self.to
        return format_link_attributes(values, self.arguments, to)


@register.tag("look_data")
@register.tag("look_query")
def _look_node(parser: Parser, token: Token, to: Value | None = None) -> LookNode:
    tag, *bits = token.split_contents()
    fields = {name: _resolve_constant(value) for name, value in token_kwargs(bits, parser).items()}
    if to is not None:
        to = fields.pop("to", to)
    if bits or not fields:
        raise template.TemplateSyntaxError(f"{tag} takes fields of a look, such as pod=p.key")
    return LookNode(list(fields.values()), [argument(tag, name) for name in fields], to)


def _resolve_constant(value: FilterExpression) -> Value:
    """Resolve a constant once, when the template is compiled."""
    return str(value.var) if (not value.is_var and not value.filters) else value


register.tag("look_link", partial(_look_node, to=""))


@register.tag("look_field")
@register.tag("look_choice")
def _build_attributes_node(parser: Parser, token: Token) -> Node:
    tag, name = token.split_contents()
    return TextNode(format_field_attributes(tag, name.strip('"')))


@register.simple_tag
def look_fields() -> dict[str, Any]:
    """The declaration, for the page's scripts: `{% look_fields as fields %}{{ fields|json_script:"look-fields" }}`."""
    return declaration()


class LookContext(Protocol):
    """A template's context in either engine."""

    def get(self, key: str, default: Any = None, /) -> Any: ...


@register.simple_tag(takes_context=True)
def standing_field(context: LookContext) -> SafeString:
    """Return a hidden input with the step where the form acts: the viewer's step, or nothing at the head. The page updates it."""
    return format_html('<input type="hidden" name="at" value="{}" data-standing>', _standing(context))


@register.simple_tag(takes_context=True)
def standing_link(context: LookContext, page: str) -> SafeString:
    """Return a link to a page about the viewer's position. The studio keeps it up to date."""
    at = _standing(context)
    return format_html('href="{}{}" data-standing-link', page, f"?at={at}" if at != "" else "")


def _standing(context: LookContext) -> Any:
    return "" if context.get("following") else context.get("position", "")
