"""Markup: HTML for a page of another application. Without scripts and URLs, in colors that are legible on white and on black."""

from collections.abc import Callable, Iterable, Sequence
from html import escape

ROOM = "scheduler-playground"
# Each rule names the class twice, to override the rules of notebook pages for their contents.
_STYLE = """
.R{font:14px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto}
.R h4{font-size:15px;font-weight:600;margin:.2em 0 .4em}
.R p{margin:.3em 0}
.R table{border-collapse:collapse;margin:.4em 0;font-size:13px}
.R th,.R td{border:1px solid rgba(128,128,128,.4);padding:.25em .6em;text-align:left;vertical-align:top}
.R th{font-weight:600;background:rgba(128,128,128,.16)}
.R td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.R .chip{display:inline-block;border:1px solid rgba(128,128,128,.5);border-radius:4px;padding:0 .4em;margin:.1em .25em .1em 0}
.R .good{background:rgba(40,160,90,.22)}
.R .bad{background:rgba(220,70,60,.22)}
.R .new{background:rgba(230,160,30,.25)}
.R .quiet{border-style:dashed}
.R .bar{display:block;min-width:7em;height:7px;border-radius:4px;background:rgba(128,128,128,.28);margin-top:.2em}
.R .bar span{display:block;height:7px;border-radius:4px;background:#3b82c4}
""".replace(".R", f".{ROOM}.{ROOM}").strip()


class Html(str):
    """HTML whose texts are escaped."""

    __slots__ = ()


def text(value: object) -> Html:
    """Return a value as escaped HTML, unless it already is HTML."""
    return value if isinstance(value, Html) else Html(escape(str(value)))


def join_html(parts: Iterable[object]) -> Html:
    return Html("".join(map(text, parts)))


def element(name: str, *content: object, sort: str = "", title: str = "", heads: str = "") -> Html:
    """Return an element. `sort` is its class; `heads` is the scope of a header cell: row or col."""
    named = {"class": sort, "title": title, "scope": heads}
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in named.items() if value)
    return Html(f"<{name}{attributes}>{join_html(content)}</{name}>")


def chip(*content: object, sort: str = "", title: str = "") -> Html:
    """Return a framed word. `sort`: good, bad, new, or quiet."""
    return element("span", *content, sort=f"chip {sort}".strip(), title=title)


def number(value: object, sort: str = "") -> Html:
    """Return a table cell with a number."""
    return element("td", value, sort=f"number {sort}".strip())


def bar(share: float) -> Html:
    """Return a bar for a share of a whole, from 0 to 1."""
    width = round(100 * min(max(share, 0), 1))
    return Html(f'<span class="bar"><span style="width:{width}%"></span></span>')


def table(headings: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """Return a table. The first cell of a row is its header. A cell that is a td element is kept unchanged."""
    head = element("tr", *(element("th", heading, heads="col") for heading in headings))
    body = join_html(element("tr", element("th", row[0], heads="row"), *map(_cell, row[1:])) for row in rows)
    return element("table", element("thead", head), element("tbody", body))


def _cell(content: object) -> Html:
    made = text(content)
    return made if made.startswith("<td") else element("td", made)


def card(heading: object, *content: object) -> str:
    """Return the complete HTML for a page."""
    style = Html(f"<style>{_STYLE}</style>")
    return str(join_html((style, element("div", element("h4", heading), *content, sort=ROOM))))


# Amounts in a readable format.

Written = Callable[[int], str]
"""Writes an amount."""

_MEMORY = ("Ki", "Mi", "Gi", "Ti", "Pi")


def cpu(millis: int) -> str:
    """Format milli-CPUs in cores, such as 1.5."""
    return f"{millis / 1000:g}"


def memory(count: int) -> str:
    """Format bytes in the largest unit that leaves at least 1, such as 1.5Gi."""
    size, unit = float(count), ""
    for larger in _MEMORY:
        if abs(size) < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.4g}{unit}"


def seconds(nanoseconds: int) -> str:
    """Format virtual time: 0.012 s."""
    return f"{nanoseconds / 1e9:.3f}".rstrip("0").rstrip(".") + " s"


def format_count(count: int, one: str, more: str = "") -> str:
    """Format a number with its noun: 1 pod, 2 pods."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
