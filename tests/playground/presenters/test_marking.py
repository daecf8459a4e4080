"""The field that a number leads to, marked in the YAML tab."""

from __future__ import annotations

import pytest

from playground.presenters import Look, present
from playground.presenters.inspector.yaml import mark_field
from tests.playground.presenters.worlds import decided, three_nodes, until

TEXT = """\
spec:
  taints:
  - effect: NoSchedule
    key: a
  - effect: NoExecute
    key: b
status:
  allocatable:
    cpu: '8'
    nvidia.com/gpu: 4
"""


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ("status.allocatable[cpu]", "    cpu: '8'\n"),
        ("status.allocatable[nvidia.com/gpu]", "    nvidia.com/gpu: 4\n"),
        ("spec.taints[1]", "  - effect: NoExecute\n    key: b\n"),
        ("spec.taints[0].key", "    key: a\n"),
        ("spec.taints[7]", ""),
        ("spec.nothing.at.all", ""),
        ("", ""),
    ],
)
def test_the_lines_of_a_field_are_marked(path: str, mark: str) -> None:
    found = mark_field(TEXT, path)
    assert (found["mark"], found["text"] + found["mark"] + found["rest"]) == (mark, TEXT)


def test_what_the_filter_compares_leads_to_where_it_is_written() -> None:
    sim = until(three_nodes(), decided())
    body = present("inspector", sim, Look(node="small", about="node")).context["body"]
    (fit,) = [each for each in body["figures"] if each["plugin"] == "NodeResourcesFit"]
    cells = fit["blocks"][0]["rows"][0]["cells"]
    assert [(cell[0]["object"], cell[0]["path"]) for cell in cells[:3]] == [
        ("Pod", "spec.containers[0].resources.requests[cpu]"),
        ("Node", ""),
        ("Node", "status.allocatable[cpu]"),
    ]


def test_the_yaml_tab_marks_the_field_of_the_look() -> None:
    look = Look(tab="yaml", node="free", about="node", field="status.allocatable[cpu]")
    assert present("inspector", three_nodes(), look).context["body"]["mark"].strip() == "cpu: '8'"
