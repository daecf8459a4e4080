"""Links and fields of a look as templates write them: what is in the address, what the page's scripts read, and what is no field."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from django.template import Context, Template, TemplateSyntaxError

from playground.presenters import Look


def rendered(text: str, **context: Any) -> str:
    return Template("{% load look %}" + text).render(Context(context))


@pytest.mark.parametrize(
    ("tag", "html"),
    [
        ('look_link tab="fix"', 'href="?tab=fix" data-tab="fix"'),
        ("look_link pod=key", 'href="?pod=ns/a%26b" data-pod="ns/a&amp;b"'),
        ("look_link at=7", 'href="?at=7" data-goto="7"'),
        ('look_link pod=""', 'href="?pod=" data-pod=""'),
        ('look_link node=key href_tab="node"', 'href="?node=ns/a%26b&amp;tab=node" data-node="ns/a&amp;b"'),
        ("look_link to=studio at=7 href_pod=nothing", 'href="/s/x/?at=7" data-goto="7"'),
        ("look_data span=0 start=nothing", 'data-span="0" data-start=""'),
        ("look_data at=nothing pod=key", 'data-pod="ns/a&amp;b"'),
        ("look_query at=7 pod=key", "?at=7&amp;pod=ns/a%26b"),
        ("look_query at=nothing", ""),
        ('look_field "q"', 'name="q" data-look="q" maxlength="253"'),
        ('look_field "at"', 'name="at" data-look="at"'),
        ('look_choice "group"', 'name="group" data-look="group"'),
    ],
)
def test_a_look_is_written_as_an_address_and_as_data(tag: str, html: str) -> None:
    assert rendered(f"{{% {tag} %}}", key="ns/a&b", studio="/s/x/", nothing=None) == html


def test_a_look_is_read_of_a_requests_query_as_of_any_mapping() -> None:
    look = Look.from_query(QueryDict("node=a&node=n1&stage=score"))
    assert (look.node, look.about, look.stage) == ("n1", "node", "score")


@pytest.mark.parametrize("tag", ["look_link pods=key", "look_data", "look_query href_x=1", 'look_field "pods"'])
def test_what_is_no_field_of_a_look_is_an_error_when_the_template_is_compiled(tag: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        Template(f"{{% load look %}}{{% {tag} %}}")


@pytest.mark.parametrize(
    ("context", "at"), [({"following": False, "position": 3}, "3"), ({"following": True, "position": 3}, ""), ({}, "")]
)
def test_forms_and_links_act_where_the_viewer_stands(context: dict[str, Any], at: str) -> None:
    field = f'<input type="hidden" name="at" value="{at}" data-standing>'
    link = f'href="build/{"?at=" * bool(at)}{at}" data-standing-link'
    assert rendered('{% standing_field %} {% standing_link "build/" %}', **context) == f"{field} {link}"
