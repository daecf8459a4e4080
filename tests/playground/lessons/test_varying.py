"""What a lesson declares of its variants: what can be drawn, and what is said of what can't."""

import shutil

import pytest
import yaml

from playground.lessons import BadLesson, read_lesson
from playground.lessons.authoring import check, files_in
from playground.lessons.reading import CONTENT
from playground.lessons.variants import AmbiguousVariants, problems_of_variants, proven
from playground.lessons.varying import variants_of


@pytest.fixture
def changed(tmp_path):
    """A copy of a lesson that varies, changed by a function of its lesson.yaml."""

    def made(change, slug="bin-packing"):
        shutil.copytree(CONTENT / slug, tmp_path / slug, dirs_exist_ok=True)
        path = tmp_path / slug / "lesson.yaml"
        plan = yaml.safe_load(path.read_text())
        change(plan)
        path.write_text(yaml.safe_dump(plan, sort_keys=False))
        return tmp_path / slug

    return made


def of_size(**draw):
    return lambda plan: plan["vary"]["draws"].update(size=draw)


BAD = [
    (of_size(written="8"), r"vary\.draws\.size: either among, or from and to, is expected"),
    (of_size(written="8", **{"from": 8}), r"vary\.draws\.size: only one of from and to; both are expected"),
    (of_size(written="8", **{"from": 20, "to": 8}), r"vary\.draws\.size: from 20 to 8 by 1; a range that rises"),
    (of_size(written="8", **{"from": 9, "to": 20}), r"written is 8; a value from 9 to 20 is expected"),
    (of_size(written="8", **{"from": "large", "to": 20}), r"vary\.draws\.size: 'large'"),
    (of_size(written="8", **{"from": 0, "to": 10**9}), r"the range has 1,000,000,001 values; 2 to 10,000"),
    (of_size(written="8", among=["9"]), r"two or more different values are expected"),
    (of_size(written="8", among=[9, 10]), r"values like '8' are expected"),
    (lambda plan: plan["vary"]["derived"].update(half={"sum": [1, 2]}), r"half is the name of a fact already"),
    (lambda plan: plan["vary"]["derived"].update(size={"sum": [1, 2]}), r"the name size is declared twice"),
    (lambda plan: plan["vary"]["derived"].update(Big={"sum": [1, 2]}), r"the name “Big”"),
    (lambda plan: plan["vary"]["derived"].update(more={"sum": ["nothing", 2]}), r"nothing is no value; one of"),
    (lambda plan: plan["vary"]["derived"].update(more={"quotient": ["size", 0]}), r"vary\.derived: more: quotient"),
    (lambda plan: plan["vary"]["derived"].update(more={"difference": [3, 2, 1]}), r"3 values; two are expected"),
    (lambda plan: plan["vary"]["derived"].update(more={"power": [3, 2]}), r"power"),
    (lambda plan: plan["vary"].update(shuffles=[{"one": 1, "two": 1}]), r"vary\.shuffles\[0\]: \[1, 1\]; two or more"),
    (lambda plan: plan["vary"].update(require=[{"rising": ["size", "whatever"]}]), r"whatever is neither a value nor"),
    (lambda plan: plan["vary"].update(require=[{"rising": ["size", "used"]}]), r"rising: \[size, used\] does not hold"),
    (lambda plan: plan["nodes"][0].update(name="$(nobody)"), r"nodes\[0\]\.name: \$\(nobody\) is no value that varies"),
    (lambda plan: plan["cards"][0].update(spotlight="$(big)"), r"cards\[0\]\.spotlight: \$\(big\)"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=[said for _change, said in BAD])
def test_what_can_not_be_drawn_is_said_with_its_place(changed, change, said):
    with pytest.raises(BadLesson, match=said):
        read_lesson(changed(change))


def test_a_lesson_of_ones_own_is_told_the_line(changed):
    folder = changed(of_size(written="8"))
    (finding,) = check(files_in(folder), 1_000).findings
    assert finding.file == "lesson.yaml"
    line = (folder / "lesson.yaml").read_text().splitlines()[finding.line - 1]
    assert line.strip() == "size:"


def test_a_lesson_of_ones_own_with_variants_is_well_and_its_variants_are_proven(changed):
    checked = check(files_in(changed(lambda plan: None)), 1_000)
    assert checked.findings == ()
    wrong = check(files_in(changed(lambda plan: plan["vary"]["require"].append({"rising": ["half", "none"]}))), 1_000)
    assert "variant 1 can't be shown" in wrong.findings[0].text


def refused(lesson):
    with pytest.raises(AmbiguousVariants) as error:
        proven(lesson, "1", 1_000)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda plan: plan["vary"]["require"].append({"rising": ["half", "none"]}), "does not hold"),
        (lambda plan: plan["vary"]["draws"]["emptier"].update(among=["busy", "crowded"]), ""),
        (lambda plan: plan["cards"][2].update(when={"seconds": 100_000}), "is never reached"),
        (lambda plan: plan["task"]["check"].update(on="$(size)"), "does not hold after the solution"),
        (lambda plan: plan["task"].update(check={"pod": "first", "outcome": "scheduled"}), "holds before anything"),
        (lambda plan: plan["cards"][1]["question"].update(among=["a", "b"]), "can't be chosen among a, b"),
        (lambda plan: plan["cards"][1]["question"].update(among=["$(emptier)", "$(emptier)"]), "read the same"),
    ],
)
def test_a_variant_that_is_not_right_is_never_shown(changed, change, said):
    lesson = read_lesson(changed(change))
    if said:
        assert said in refused(lesson)
    else:
        for seed in range(20):
            drawn = proven(lesson, str(seed), 1_000).lesson.drawn
            assert drawn["fuller"] != drawn["emptier"]


def test_nodes_that_tie_are_no_answer(changed):
    """Two empty nodes of one size: the draw decides where the pod goes, so there is no single answer."""

    def tie(plan):
        plan["pods"].pop(0)
        plan["vary"]["require"] = []
        plan["configuration"]["profiles"][1]["pluginConfig"] = []
        plan["cards"][0]["question"] = {"kind": "node", "answer": {"node_of": "first"}}

    assert "several nodes have the highest total" in refused(read_lesson(changed(tie)))


def test_a_draw_that_is_never_as_required_ends(changed):
    def narrow(plan):
        plan["vary"]["draws"] = {"size": {"written": "8", "from": 8, "to": 20, "step": 12}}
        plan["vary"]["derived"] = {}
        plan["vary"]["require"] = [{"equal": ["size", 8]}]
        text = yaml.safe_dump(plan, sort_keys=False).replace("$(fuller)", "half").replace("$(emptier)", "empty")
        text = text.replace("$(used)", "'4'").replace("$(asks)", "'2'")
        plan.clear()
        plan.update(yaml.safe_load(text))

    lesson = read_lesson(changed(narrow))
    assert list(variants_of(lesson, "1")) == []
    assert refused(lesson) == "no draw is what the lesson requires of its values"


def test_words_that_hold_what_varies_and_values_that_nothing_uses_are_named(changed):
    folder = changed(lambda plan: plan["vary"]["draws"].update(spare={"written": 1, "from": 1, "to": 5}))
    words = folder / "en.yaml"
    words.write_text(words.read_text().replace("give `{fuller}`", "give `half`"))
    found = list(problems_of_variants(read_lesson(folder)))
    assert "vary: nothing uses spare; $(spare) or {spare} is expected somewhere" in found
    assert "en.yaml: it says `half`, which varies; {fuller} is expected" in found


def test_what_the_studio_suggests_for_a_lesson_that_varies_follows_the_names(changed):
    checked = check(files_in(changed(lambda plan: None, "preemption")), 1_000)
    assert any(moment.when.get("pod") == "$(top)" and moment.pod == "urgent" for moment in checked.moments)
    asked = [each.question.answer for card in checked.cards for each in card.suggested]
    assert {"scheduled": "$(top)"} in asked
    assert not any("urgent" in str(answer) for answer in asked)
