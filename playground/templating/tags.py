"""Django's tags for translations and this project's tags for links, parsed by Jinja2. Their syntax is that of all other templates, so
that makemessages finds the texts, and an invalid name of a look's field is an error at compile time. Their arguments are Jinja2
expressions.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import ngettext, trim_whitespace
from jinja2 import Undefined, nodes, pass_context
from jinja2.ext import Extension
from jinja2.parser import Parser
from markupsafe import Markup

from playground.presenters.names import WIDE
from playground.presenters.words import agree
from playground.templatetags import look, studio, terms
from playground.templating.words import WordedContext


def prints(function: str, first: nodes.Expr, *more: nodes.Expr) -> nodes.Node:
    """Return a node that prints the result of a function in MAKERS: a filter, which Jinja2 calls directly, unlike functions."""
    return nodes.Output([nodes.Filter(first, function, list(more), [], None, None)])


def assignments(parser: Parser) -> Iterator[tuple[str, nodes.Expr]]:
    """Yield the assignments that come next: `pod=p.key tab="why"`."""
    while parser.stream.current.type == "name" and parser.stream.look().type == "assign":
        name = parser.stream.expect("name").value
        parser.stream.expect("assign")
        yield name, parser.parse_expression()


class LookTags(Extension):
    """The tags of templatetags/look.py."""

    tags = {"look_link", "look_data", "look_query", "look_field", "look_choice", "standing_field"}

    def parse(self, parser: Parser) -> nodes.Node:
        tag = next(parser.stream).value
        if tag == "standing_field":
            return prints("standing_field", nodes.ContextReference())
        if tag in ("look_field", "look_choice"):
            name = parser.stream.expect("string").value
            return nodes.Output([nodes.TemplateData(look.format_field_attributes(tag, name))])
        fields = dict(assignments(parser))
        to = fields.pop("to", nodes.Const("")) if tag == "look_link" else nodes.Const(None)
        if not fields:
            parser.fail(f"{tag} takes fields of a look, such as pod=p.key")
        arguments = tuple(tuple(look.argument(tag, name)) for name in fields)
        return prints("look_written", nodes.Tuple(list(fields.values()), "load"), nodes.Const(arguments), to)


@lru_cache(maxsize=8192)
def look_written(values: tuple[Any, ...], arguments: tuple[tuple[str, str], ...], to: Any) -> SafeString:
    """Return a written look, with None for missing values. The pods and nodes on a page are mostly those of the step before."""
    return look.format_link_attributes(
        (None if isinstance(value, Undefined) else value for value in values), arguments, to
    )


class TranslatedText(NamedTuple):
    """A text between two tags in gettext's form, its names, and the tag after it."""

    text: str
    names: list[str]
    end: str


class WordTags(Extension):
    """The tags `{% translate %}`, and `{% blocktranslate %}` with `trimmed`, `count`, and `with`."""

    tags = {"translate", "blocktranslate"}

    def parse(self, parser: Parser) -> nodes.Node:
        if next(parser.stream).value == "translate":
            return prints("translate_text", nodes.ContextReference(), parser.parse_expression())
        trimmed = parser.stream.skip_if("name:trimmed")
        counted = dict(assignments(parser)) if parser.stream.skip_if("name:count") else {}
        given = dict(assignments(parser)) if parser.stream.skip_if("name:with") else {}
        one = many = self._read_words(parser, trimmed)
        if one.end == "plural":
            many = self._read_words(parser, trimmed)
        number = next(iter(counted.values()), nodes.Const(None))
        values = nodes.Dict(
            [
                nodes.Pair(nodes.Const(name), (counted | given).get(name, nodes.Name(name, "load")))
                for name in sorted({*one.names, *many.names})
            ]
        )
        plural = nodes.Const(many.text if one.end == "plural" else None)
        return prints("translate_block", nodes.ContextReference(), nodes.Const(one.text), plural, number, values)

    def _read_words(self, parser: Parser, trimmed: bool) -> TranslatedText:
        """Read the text after a tag up to the name of the next tag."""
        parser.stream.expect("block_end")
        parts, names = [], []
        while not parser.stream.skip_if("block_begin"):
            if parser.stream.skip_if("variable_begin"):
                names.append(parser.stream.expect("name").value)
                parser.stream.expect("variable_end")
                parts.append(f"%({names[-1]})s")
            else:
                parts.append(parser.stream.expect("data").value.replace("%", "%%"))
        text = "".join(parts)
        end = parser.stream.expect("name").value
        if end not in ("plural", "endblocktranslate"):
            parser.fail(f"Between words stands no other tag, such as {end}.")
        return TranslatedText(trim_whitespace(text) if trimmed else text, names, end)


class TermTag(Extension):
    """The tag `{% term "gated" %}words{% endterm %}` (templatetags/terms.py). An empty name means no term."""

    tags = {"term"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        name = parser.parse_expression()
        if isinstance(name, nodes.Const):
            terms.open_term(name.value)
        # A label begins and ends with its words, wherever the template breaks its lines.
        body = parser.parse_statements(("name:endterm",), drop_needle=True)
        data = [part for node in body if isinstance(node, nodes.Output) for part in node.nodes]
        if data and isinstance(data[0], nodes.TemplateData):
            data[0].data = data[0].data.lstrip()
        if data and isinstance(data[-1], nodes.TemplateData):
            data[-1].data = data[-1].data.rstrip()
        return [prints("term_begun", name), *body, prints("term_ended", name)]


def term_begun(name: str) -> str:
    return terms.open_term(name) if name else ""


def term_ended(name: str) -> str:
    return terms.END if name else ""


@pass_context
def translate_message(context: WordedContext, message: Mapping[str, Any] | None) -> SafeString | str:
    """The filter of templatetags/studio.py, in the context's words."""
    return studio.sentence(message, context.words.__getitem__, context.short_names)


@pass_context
def apart(context: WordedContext, name: str, most: int = WIDE) -> SafeString:
    """Return the short form of a node's or a pod's name: its distinguishing part in `most` letters (16 in the rail and the line)."""
    return studio.elide(name, context.short_names.fit(name, most))


@pass_context
def spelled(context: WordedContext, name: str) -> SafeString:
    """Return a short form with its full name, the kept part in bold, for the head of a list; "" if nothing was removed."""
    before, kept, after = context.short_names.spell(name)
    bold = Markup("<b>{}</b>").format(kept)
    return SafeString(Markup("{} = {}{}{}").format(bold, before, bold, after) if before or after else "")


def translate_text(context: WordedContext, text: str) -> str:
    return context.words[text]


def translate_block(
    context: WordedContext, one: str, many: str | None, number: int, values: Mapping[str, Any]
) -> Markup:
    """Return a text of a template with escaped values."""
    text = agree(context.words[one], values) if many is None else ngettext(one, many, number)
    return Markup(text) % values  # noqa: S704


MAKERS = {
    "translated": translate_message,
    "apart": apart,
    "spelled": spelled,
    **{
        function.__name__: function
        for function in (look_written, look.standing_field, term_begun, term_ended, translate_text, translate_block)
    },
}
