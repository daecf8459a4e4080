import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.labels import (
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    aggregate,
    parse_int64,
)


def expression(key="zone", operator="In", values=("a",)):
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("op", "values", "value", "passes"),
    [
        ("In", ("a", "b"), "a", True),
        ("In", ("a",), None, False),
        ("NotIn", ("a",), "b", True),
        ("NotIn", ("a",), None, True),
        ("NotIn", ("a",), "a", False),
        ("Exists", (), "", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("DoesNotExist", (), "x", False),
        ("Gt", ("4",), "5", True),
        ("Gt", ("5",), "5", False),
        ("Lt", ("5",), "-7", True),
        ("Gt", ("4",), "many", False),
        ("Gt", ("4",), None, False),
        ("Gt", ("4",), "9223372036854775808", False),
        ("Gt", ("1", "2"), "5", False),
        ("Like", ("a",), "a", False),
    ],
)
def test_a_requirement_accepts_values_as_kube_does(op, values, value, passes):
    assert Requirement("zone", op, values).accepts(value) is passes


def test_an_absent_selector_matches_nothing_and_an_empty_one_everything():
    assert not LabelSelector.of(None).matches({"a": "b"})
    assert LabelSelector.of({}).matches({})


def test_a_selector_ands_labels_and_expressions():
    selector = LabelSelector.of({"matchLabels": {"app": "web"}, "matchExpressions": [expression()]})
    assert selector.matches({"app": "web", "zone": "a"})
    assert not selector.matches({"app": "web", "zone": "b"})


def test_a_selector_that_cannot_be_parsed_matches_nothing_and_says_why():
    selector = LabelSelector.of({"matchExpressions": [expression(operator="Gt", values=("4",))]})
    assert not selector.matches({"zone": "5"})
    assert [str(error) for error in selector.errors] == ['"Gt" is not a valid label selector operator']


def test_only_the_first_requirement_that_cannot_be_parsed_is_told():
    none, twice = expression(operator="In", values=()), expression(operator="Exists", values=("a b",))
    selector = LabelSelector.of({"matchLabels": {"app": "web"}, "matchExpressions": [none, twice]})
    text = "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
    assert [str(error) for error in selector.errors] == [text]
    (both,) = LabelSelector.of({"matchExpressions": [twice]}).errors
    assert str(both).startswith('[values: Invalid value: ["a b"]: values set must be empty')


def test_an_empty_node_selector_term_matches_no_node():
    assert not NodeSelectorTerm.of({}).matches({"a": "b"}, "n1")


def test_match_fields_look_at_the_name():
    term = NodeSelectorTerm.of({"matchFields": [expression("metadata.name", "In", ("n1",))]})
    assert term.matches({}, "n1")
    assert not term.matches({}, "n2")


def test_a_field_with_two_values_matches_nothing():
    term = NodeSelectorTerm.of({"matchFields": [expression("metadata.name", "In", ("n1", "n2"))]})
    assert not term.matches({}, "n1")
    assert str(term.errors[0]) == 'matchFields[0].values: Invalid value: ["n1","n2"]: must have one element'


def test_terms_are_ored_and_a_broken_one_is_passed_over():
    broken = {"matchExpressions": [expression("cores", "Gt", ("-1",))]}
    good = {"matchExpressions": [expression()]}
    selector = NodeSelector.of({"nodeSelectorTerms": [broken, good]})
    assert selector.matches({"zone": "a", "cores": "3"}, "n1")
    assert not selector.matches({"zone": "b", "cores": "3"}, "n1")


def test_a_negative_number_is_an_invalid_label_value_in_kubes_words():
    term = NodeSelectorTerm.of({"matchExpressions": [expression("cores", "Gt", ("-1",))]}, "[0]")
    assert aggregate(term.errors).startswith(
        '[0].matchExpressions[0].values[0][cores]: Invalid value: "-1": a valid label must be an empty string'
    )


def test_several_errors_are_printed_in_brackets_and_none_twice():
    term = NodeSelectorTerm.of({"matchExpressions": [expression("!", "In", ()), expression("!", "In", ())]})
    text = aggregate((*term.errors[:2], term.errors[0]))
    assert text == f"[{term.errors[0]}, {term.errors[1]}]"


@pytest.mark.parametrize(("text", "number"), [("+7", 7), ("007", 7), ("1_0", None), (" 1", None), ("", None)])
def test_integers_are_read_as_go_reads_them(text, number):
    assert parse_int64(text) == number


VALUES = st.sampled_from(["a", "b", "c", None])


@given(VALUES, st.lists(st.sampled_from(["a", "b", "c"]), min_size=1))
def test_not_in_is_the_opposite_of_in(value, values):
    chosen = tuple(values)
    assert Requirement("k", "In", chosen).accepts(value) != Requirement("k", "NotIn", chosen).accepts(value)


@given(VALUES)
def test_does_not_exist_is_the_opposite_of_exists(value):
    assert Requirement("k", "Exists").accepts(value) != Requirement("k", "DoesNotExist").accepts(value)


@given(
    st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz")),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz")),
)
def test_match_labels_match_where_the_labels_hold_them_all(wanted, labels):
    assert LabelSelector.of({"matchLabels": wanted}).matches(labels) == (wanted.items() <= labels.items())
