"""Links and form fields that change what the viewer looks at, made from the fields that presenters/look.py declares.

    <a {% look_link pod=p.key tab="why" %}>       href="?pod=default%2Fweb" data-pod="default/web" ...: followed without leaving the page
    <a {% look_link node=n.name href_tab="node" %}>  in the address only, for who has no script; the page's own rules open the tab
    <a {% look_link to=studio at=s.at %}>         on another page: leads to `to`; a position is gone to (data-goto)
    <a href="{{ l.href }}" {% look_data start=l.start %}>  where a presenter made the whole address
    <a href="{% url 'studio' key %}{% look_query at=at %}">  an address only; what is None is left out
    <input {% look_field "q" %}>                  a field that the page listens to while it is typed in
    <select {% look_choice "group" %}>

A name that is no field of a look is an error when the template is compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote

from django import template
from django.template.base import FilterExpression, Node, Parser, TextNode, Token, token_kwargs
from django.template.context import Context
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from playground.presenters.look import FIELDS, Text, declaration

register = template.Library()

HREF_ONLY = "href_"
Value = str | FilterExpression


class Argument(NamedTuple):
    """A field that is set: how its part of the address begins, and its attribute, where it has them."""

    query: str
    attribute: str
    value: Value


class LookNode(Node):
    """The address with what is set, as `href` where it leads somewhere, and the data attributes."""

    def __init__(self, arguments: list[Argument], to: Value | None = None) -> None:
        self.arguments = arguments
        self.to = to

    def render(self, context: Context) -> SafeString:
        query, data = [], []
        for start, attribute, value in self.arguments:
            given = value if isinstance(value, str) else value.resolve(context, ignore_failures=True)
            if start and given is not None:
                query.append(start + quote(str(given)))
            if attribute:
                data.append(attribute + escape("" if given is None else given) + '"')
        address = "?" + "&amp;".join(query) if query else ""
        if self.to is not None:
            to = self.to if isinstance(self.to, str) else escape(self.to.resolve(context))
            address = f'href="{to}{address}"'
        return mark_safe((address + "".join(data)).lstrip())  # noqa: S308 - every value is quoted or escaped


@register.tag
def look_link(parser: Parser, token: Token) -> LookNode:
    to, fields = _fields(parser, token)
    arguments = []
    for name, value in fields:
        field = name.removeprefix(HREF_ONLY)
        arguments.append(Argument(f"{field}=", attribute_of(name) if field == name else "", value))
    return LookNode(arguments, to)


@register.tag
def look_data(parser: Parser, token: Token) -> LookNode:
    return LookNode([Argument("", attribute_of(name), value) for name, value in _fields(parser, token)[1]])


@register.tag
def look_query(parser: Parser, token: Token) -> LookNode:
    return LookNode([Argument(f"{name}=", "", value) for name, value in _fields(parser, token)[1]])


def attribute_of(name: str) -> str:
    return f' data-{"goto" if name == "at" else name}="'


def _fields(parser: Parser, token: Token) -> tuple[Value, list[tuple[str, Value]]]:
    """Where a tag leads, and the fields that it sets."""
    tag, *bits = token.split_contents()
    fields = {name: _folded(value) for name, value in token_kwargs(bits, parser).items()}
    to = fields.pop("to", "")
    if bits or not fields:
        raise template.TemplateSyntaxError(f"{tag} takes fields of a look, such as pod=p.key")
    for name in fields:
        field_of(tag, name.removeprefix(HREF_ONLY))
    return to, list(fields.items())


def _folded(value: FilterExpression) -> Value:
    """A constant is resolved once, when the template is compiled."""
    constant = not value.is_var and not value.filters
    return str(value.var) if constant else value


def field_of(tag: str, name: str) -> Any:
    if name not in FIELDS:
        raise template.TemplateSyntaxError(f"{tag}: a look has no field {name}; it has {', '.join(FIELDS)}")
    return FIELDS[name]


@register.tag
def look_field(parser: Parser, token: Token) -> Node:
    tag, name = _one_field(token)
    kind = field_of(tag, name).kind
    limit = f' maxlength="{kind.most}"' if isinstance(kind, Text) else ""
    return TextNode(_NAMED.format(name) + limit)


@register.tag
def look_choice(parser: Parser, token: Token) -> Node:
    tag, name = _one_field(token)
    field_of(tag, name)
    return TextNode(_NAMED.format(name))


_NAMED = 'name="{0}" data-look="{0}"'


def _one_field(token: Token) -> tuple[str, str]:
    tag, name = token.split_contents()
    return tag, name.strip('"')


@register.simple_tag
def look_fields() -> dict[str, Any]:
    """The declaration, for the page's scripts: `{% look_fields as fields %}{{ fields|json_script:"look-fields" }}`."""
    return declaration()


@register.simple_tag(takes_context=True)
def standing_field(context: Context) -> SafeString:
    """Where the form acts: the step that the viewer stands at, or nothing at the head. The page keeps it up to date."""
    return format_html('<input type="hidden" name="at" value="{}" data-standing>', _standing(context))


@register.simple_tag(takes_context=True)
def standing_link(context: Context, page: str) -> SafeString:
    """A link to a page about where the viewer stands. The studio keeps it up to date."""
    at = _standing(context)
    return format_html('href="{}{}" data-standing-link', page, f"?at={at}" if at != "" else "")


def _standing(context: Context) -> Any:
    return "" if context.get("following") else context.get("position", "")
