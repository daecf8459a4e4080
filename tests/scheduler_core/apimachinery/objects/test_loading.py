import json

import pytest
import yaml

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadLimits, join_files, load_manifests


def loaded(text, **limits):
    return [entry.manifest for entry in load_manifests(text, LoadLimits(**limits))]


def refusal(text, **limits):
    with pytest.raises(InvalidObject) as caught:
        load_manifests(text, LoadLimits(**limits))
    return caught.value.errors[0]


def test_documents_lists_and_empty_documents_become_objects_in_order():
    text = "kind: A\n---\n---\nkind: List\nitems:\n- kind: B\n- kind: C\n"
    assert [entry["kind"] for entry in loaded(text)] == ["A", "B", "C"]
    assert [entry.index for entry in load_manifests(text)] == [0, 1, 2]


def test_json_values_may_follow_one_another():
    assert loaded('{"kind": "A"}\n{"kind": "PodList", "items": [{"kind": "B"}]}') == [{"kind": "A"}, {"kind": "B"}]


@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "A"}\n---\n{"kind": "B"}',
        '---\n{"kind": "A"}\n--- # the second\n\n{"kind": "B"}\n---\n',
        '{"kind": "A"}\r\n---\r\n{"kind": "B"}\r\n',
        '{"kind": "A"}\n---\nkind: B\n',
        'kind: A\n---\n{"kind": "B"}\n',
        '\ufeff{"kind":\n\t"A"}\n---\nkind: B\n',
    ],
)
def test_documents_of_json_may_be_separated_by_dashes_and_mixed_with_yaml(text):
    assert loaded(text) == [{"kind": "A"}, {"kind": "B"}]


def test_dashes_within_a_json_value_are_an_error_at_their_line():
    error = refusal('{"kind": "A",\n---\n"x": 1}')
    assert (error.line, error.received) == (2, "not readable as JSON")


def test_fields_after_dashes_are_found_at_their_lines():
    for text in ('{"kind": "A"}\n---\n{"kind":\n"B"}', '{"kind": "A"}\n---\n\nkind: B\n'):
        assert [one.locate("kind")[0] for one in load_manifests(text)] == [1, 4]


def test_joined_files_keep_their_names_and_lines():
    text = join_files([("a.json", '{"kind": "A"}'), ('b "2".yaml', "# first\nkind: B\n---\nkind: C")])
    found = [(one.manifest["kind"], one.file, one.locate("kind")[0], one.index) for one in load_manifests(text)]
    assert found == [("A", "a.json", 1, 0), ("B", 'b "2".yaml', 2, 1), ("C", 'b "2".yaml', 4, 2)]


def test_an_error_in_one_of_several_files_names_it_with_its_own_line():
    error = refusal(join_files([("a.yaml", "a: 1\nb: 2\n"), ("b.yaml", "c: 1\nc: 2\n")]))
    assert (error.file, error.line) == ("b.yaml", 2)


def test_yaml_in_flow_style_is_not_taken_for_json():
    assert loaded("{kind: A, n: 1}") == [{"kind": "A", "n": 1}]


def test_scalars_are_read_as_kubectl_reads_them():
    text = "a: 2026-01-01\nb: 1:30\nc: yes\nd: 0777\ne: 1e3\nf: '1'\ng: ~\nh: 0x_\ni: n\nj: 1_000\nk: 08\n"
    expected = {"a": "2026-01-01", "b": "1:30", "c": True, "d": 511, "e": 1000, "f": "1", "g": None}
    assert loaded(text) == [{**expected, "h": "0x_", "i": "n", "j": 1000, "k": 8}]


def test_merge_keys_take_the_first_and_never_overwrite_what_is_said():
    text = "- &a {x: 1, y: 1}\n- &b {x: 2, z: 2}\n- <<: [*a, *b]\n  y: 3\n"
    assert loaded(text)[2] == {"x": 1, "y": 3, "z": 2}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: [1, 2\n", 2, "expected ',' or ']'"),
        ("a: 1\nb: 2\na: 3\n", 3, 'the key "a" stands twice in one object'),
        ('{"a": 1,\n "a": 2}', 1, 'the key "a" stands twice in one object'),
        ('{"a": 1,\n ]', 2, "Expecting property name"),
        ('{"a": NaN}', 1, "NaN is not a JSON value"),
        ("a: .inf", 1, "not a number"),
        ("a: !!python/object/apply:os.system [ls]", 1, "tag"),
        ("a: !!binary aGk=", 1, "tag"),
        ("a: *nobody", 1, 'the alias "*nobody" has no anchor before it'),
        ("a: &me [*me]", 1, "no anchor before it"),
        ("? {a: b}\n: c", 1, "a key must be plain text"),
        ("\ta: b", 1, "cannot start any token"),
    ],
)
def test_malformed_text_says_line_column_and_problem(text, line, words):
    error = refusal(text)
    assert error.line == line
    assert error.column is not None
    assert words in str(error)


@pytest.mark.parametrize(
    ("text", "repeated", "place"),
    [
        ("a: 1\nb: {c: 2}\nb:\n  d: 3\n", [("b", 3)], (4, 6)),
        ('{"a": 1, "b": {"c": 2},\n"b": {"d": 3}}', [("b", None)], (2, 12)),
        ('{"a": 1}\n---\nb: 1\nb: {d: 3}\na: 1\n', [("b", 4)], (4, 8)),
    ],
)
def test_the_last_of_a_repeated_key_counts_where_somebody_takes_what_is_repeated(text, repeated, place):
    found = []
    last = load_manifests(text, LoadLimits(), found)[-1]
    assert found == repeated
    assert last.manifest == {"a": 1, "b": {"d": 3}}
    assert last.locate("b.d") == place


def test_an_alias_bomb_is_refused_before_it_grows():
    rows = [f"- &x{i} [{', '.join([f'*x{i - 1}'] * 10)}]" for i in range(1, 12)]
    error = refusal("- &x0 [lol, lol]\n" + "\n".join(rows))
    assert "aliases repeat more than" in str(error)


def test_a_merge_bomb_is_refused_before_it_grows():
    rows = [f"- &x{i} {{<<: [{', '.join([f'*x{i - 1}'] * 10)}]}}" for i in range(1, 12)]
    error = refusal("- &x0 {a: b}\n" + "\n".join(rows))
    assert "aliases repeat more than" in str(error)


def test_ordinary_anchors_are_fine():
    assert loaded("- &a {x: 1}\n- *a\n- *a\n") == [{"x": 1}] * 3


@pytest.mark.parametrize("text", ["[" * 100 + "]" * 100, '{"a":' * 50_000, "- " * 100 + "x"])
def test_deep_nesting_is_refused(text):
    assert "deeper than 64 levels" in str(refusal(text))


def test_a_text_over_the_limit_of_bytes_is_refused():
    assert "at most 10 are read at once" in str(refusal("a: " + "é" * 10, max_bytes=10))


def test_more_objects_than_the_limit_are_refused():
    assert "at most 2 are read at once" in str(refusal("[1, 2, 3]", max_objects=2))


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": "\\u0000"}', 'a: "\\0"', "a: \ud800"])
def test_characters_that_no_store_takes_are_refused(text):
    refusal(text)


def test_a_pair_of_surrogates_is_one_character():
    assert loaded('{"a": "\\ud83d\\ude00"}') == [{"a": "😀"}]


def test_items_that_are_no_list_are_refused_at_their_field():
    assert str(refusal("kind: List\nitems: 3")) == "items: 3 is a number, expected a list"


YAML = """# first
kind: List
items:
- kind: A
- spec:
    containers:
    - name: x
      resources:
        requests:
          cpu: 10x
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("spec.containers[0].resources.requests[cpu]", (10, 16)),
        ("spec.containers[0].image", (7, 7)),
        ("spec.containers", (6, 5)),
        ("nothing", (5, 3)),
    ],
)
def test_a_field_is_found_in_yaml_or_the_nearest_above_it(path, place):
    assert load_manifests(YAML)[1].locate(path) == place


def test_a_field_is_found_in_json():
    text = '{"kind": "A"}\n{"items": [{}, {"spec": {"a": ["x",\n  "y"]}}], "kind": "List"}'
    assert load_manifests(text)[2].locate("spec.a[1]") == (3, 3)
    assert load_manifests(text)[2].locate("spec.b") == (2, 25)


def test_json_and_yaml_of_the_same_objects_read_the_same():
    objects = [{"kind": "A", "n": -1, "f": 0.5, "s": "yes", "l": [None, True, {}], "u": "ü\n", "t": "2026-01-01"}]
    assert loaded(json.dumps(objects)) == loaded(yaml.safe_dump(objects)) == objects


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n---\n- {x: 1}\n-   y:\n      - z: 1\n      - z: 2\n    w: 3\n---\nb: 1\n",
        '{"a": 1}\n[{"x": 1},\n {"y": [{"z": 1}, {"z": 2}], "w": 3}]\n{"b": 1}',
    ],
)
def test_every_object_is_found_by_itself(text):
    lines = text.split("\n")
    entries = load_manifests(text)
    for index, path, value in ((2, "y[1].z", "2"), (2, "w", "3"), (1, "x", "1"), (3, "b", "1"), (0, "a", "1")):
        line, column = entries[index].locate(path)
        assert lines[line - 1][column - 1 :].startswith(value)
