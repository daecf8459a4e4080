"""Every lesson, played with the real engine in both languages, with right and wrong answers; and what a bad one is told."""

import io
import json
import os
import re
import shutil

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError

from playground.lessons import BadLesson, Question, judge, play, problems, read_lesson, read_lessons
from playground.lessons.checking import move_to_release, wrong_answer
from playground.lessons.evidence import STAGES, nth_attempt
from playground.lessons.facts import FACTS
from playground.lessons.judging import as_text
from playground.lessons.proof import find_unshown
from playground.lessons.reading import CONTENT
from playground.lessons.texts import fill_placeholders, placeholders
from playground.presenters.look import Look
from playground.presenters.story import present
from playground.presenters.story.goals import MEANT, list_given, list_goals, list_hints
from playground.presenters.words import in_english
from scheduler_core.scheduler.config import RELEASES
from scheduler_core.world.commands import PatchObject, Ref, Refused
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.presenters.worlds import node, pod, shown, world
from tests.support.schemas import require_printed

LESSONS = {lesson.slug: lesson for lesson in read_lessons()}
SLUGS = sorted(LESSONS)
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long


@pytest.fixture(scope="module")
def played():
    return {slug: play(lesson) for slug, lesson in LESSONS.items()}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_has_nothing_wrong_with_it(slug):
    assert problems(LESSONS[slug], frozenset(LESSONS)) == []


@pytest.mark.parametrize("slug", SLUGS if THOROUGH else ["gate", "periodic-flush"])
def test_a_lesson_holds_in_every_release_that_it_is_about(slug):
    moved = [each for release in RELEASES if (each := move_to_release(LESSONS[slug], release)) is not None]
    assert moved or "release" in LESSONS[slug].plan.settings
    assert [problem for each in moved for problem in problems(each)] == []


def test_every_lesson_but_the_last_of_a_track_leads_on_within_it():
    tracks = {}
    for lesson in LESSONS.values():
        tracks.setdefault(lesson.plan.track, []).append(lesson)
    for lessons in tracks.values():
        assert [lesson.plan.next for lesson in lessons[:-1]] == [lesson.slug for lesson in lessons[1:]]


@pytest.mark.parametrize("slug", SLUGS)
def test_no_two_cards_stand_at_the_same_step(slug, played):
    positions = list(played[slug].positions.values())
    assert positions == sorted(set(positions))


@pytest.mark.parametrize("slug", SLUGS)
def test_right_answers_are_right_and_wrong_ones_wrong(slug, played):
    for card, question in LESSONS[slug].questions:
        key = played[slug].keys[card]
        right = key if isinstance(key, tuple) else (as_text(key),)
        assert judge(question, key, right).right
        assert not judge(question, key, wrong_answer(question, key, played[slug].options[card])).right


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_value_in_a_text_is_computed(slug, language, played):
    for card, words in LESSONS[slug].words[language].cards.items():
        for text in words.texts():
            assert not placeholders(fill_placeholders(text, played[slug].values_at(card)))


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_comes_to_its_end_under_another_seed(slug):
    assert list(play(LESSONS[slug], 1).positions) == [card.id for card in LESSONS[slug].plan.cards]


def test_the_panel_shows_the_cards_that_are_reached_and_the_task_at_the_end(played):
    world = Simulation()
    assert present(world, Look(), "").context["title"] is None
    lesson = LESSONS["gate"]
    end = present(played["gate"].end, Look(), "gate").context
    assert [card["number"] for card in end["chapters"]] == [1, 2, 3]
    assert end["end"]["done"] is False
    assert end["latest"]["words"]["zh-hans"]["text"] == fill_placeholders(
        lesson.words["zh-hans"].cards["placed"].text, lesson.drawn
    )


def test_going_back_in_the_world_goes_back_in_the_lesson():
    from playground.lessons import beginning, list_reached_cards

    world = Simulation()
    for command in beginning(LESSONS["taints"].plan):
        world.apply(command)
    first = world.fork()
    for _ in range(60):
        world.step(Grain.CALL)
    assert len(list_reached_cards(LESSONS["taints"], world)) > 1
    assert [card.id for card in list_reached_cards(LESSONS["taints"], first)] == ["begin"]


def test_first_placement_computes_the_points_that_its_text_names(played):
    facts = played["first-placement"].facts
    assert (facts["points_medium"], facts["points_large"]) == (50, 81)
    assert facts["fit_large"] > facts["fit_medium"]
    assert facts["total_medium"] > facts["total_large"]


def test_the_backoff_is_at_least_one_second_and_then_two(played):
    facts = played["backoff"].facts
    assert facts["attempts"] == 3
    assert facts["first_wait"] >= 1
    assert facts["second_wait"] >= 2


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ({"pods_with": {"foo": "bar"}, "domain": {"zone": "zoneA"}}, 2),
        ({"pods_with": {"foo": "bar"}, "domain": {"zone": "zoneB"}, "card": "gone"}, 1),
        ({"pods_with": {"foo": "bar"}}, 3),
        ({"pods_with": {"foo": "other"}}, 0),
        ({"fits": "wide", "card": "wide", "node": "node4"}, 7),
    ],
)
def test_pods_are_counted_by_their_labels_and_by_how_many_more_fit(fact, value, broken):
    lesson = read_lesson(broken(lambda plan: plan["facts"].update(asked_for=fact), "spread-one"))
    assert play(lesson).facts["asked_for"] == value


def test_how_many_more_fit_in_all_is_the_sum_of_the_nodes(broken):
    def with_room(plan):
        nodes = {f"on_{i}": {"fits": "p1", "node": f"node{i}"} for i in range(1, 5)}
        plan["facts"].update(room={"fits": "p1"}, **nodes)

    facts = play(read_lesson(broken(with_room, "spread-one"))).facts
    assert facts["room"] == sum(facts[f"on_{i}"] for i in range(1, 5)) > 0


def test_a_nomination_is_told_from_none(played):
    keys = played["not-preempted"].keys
    assert [keys[card] for card in ("begin", "never", "equal", "friend")] == [False, False, False, 2]


def test_the_kubelet_of_node_restriction_is_refused_the_label_that_the_lesson_says(played):
    label = {"metadata": {"labels": {"node-restriction.kubernetes.io/tier": "payments"}}}
    world = played["node-restriction"].seen.at["stolen"].fork()
    for text in (each.cards["stolen"].text for each in LESSONS["node-restriction"].words.values()):
        said = re.search("“(.*)”", text)[1]
        with pytest.raises(Refused, match=re.escape(said)):
            world.apply(PatchObject(Ref("Node", "", "rogue"), label, user="system:node:rogue"))


def test_equal_totals_are_counted_and_one_feasible_node_has_none(played, broken):
    assert played["spread-two"].facts["tied"] == 4
    lesson = read_lesson(broken(lambda plan: plan["facts"].update(tied={"tied_for": "mypod"}), "spread-two"))
    assert "mypod has no totals: at most one node was feasible" in problems(lesson)


@pytest.mark.parametrize(
    ("kind", "key", "given", "right"),
    [
        ("number", 3, ["3.0"], True),
        ("number", 3, ["4"], False),
        ("victims", ("a", "b"), ["b", "a"], True),
        ("order", ("a", "b"), ["b", "a"], False),
        ("yesno", True, ["yes"], True),
        ("node", "n-1", ["n-2"], False),
    ],
)
def test_an_answer_is_judged_by_its_kind(kind, key, given, right):
    assert judge(Question(kind, {}), key, given).right is right


def test_a_number_within_the_tolerance_is_right():
    assert judge(Question("number", {}, tolerance=0.5), 3, ["3.5"]).right


@pytest.mark.parametrize("given", [[], ["  "], ["three"]])
def test_an_answer_that_can_not_be_read_is_an_error(given):
    with pytest.raises(ValueError, match=r"nothing was answered|not a number"):
        judge(Question("number", {}), 3, given)


@pytest.fixture
def broken(tmp_path):
    """A copy of one lesson, changed by a function of its lesson.yaml."""

    def made(change, slug="gate"):
        shutil.copytree(CONTENT / slug, tmp_path / slug, dirs_exist_ok=True)
        path = tmp_path / slug / "lesson.yaml"
        plan = yaml.safe_load(path.read_text())
        change(plan)
        path.write_text(yaml.safe_dump(plan))
        return tmp_path / slug

    return made


def test_a_field_that_no_lesson_has_is_named_with_its_file_and_place(broken):
    with pytest.raises(BadLesson, match=r"gate/lesson\.yaml: .*colour.*\$\.cards\[0\]"):
        read_lesson(broken(lambda plan: plan["cards"][0].update(colour="red")))


def _without_its_last_card(plan):
    """The task's start deletes the pod that the last card is about."""
    plan["cards"][-1]["when"] = {"all": [{"pod": "job", "outcome": "scheduled"}, {"exists": "Pod job"}]}
    job = {"kind": "Pod", "namespace": "default", "name": "job"}
    plan["task"]["start"].append({"command": {"kind": "DeleteObjects", "refs": [job]}})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda plan: plan["cards"][1].update(when={"pod": "web", "outcome": "error"}), "card web is never reached"),
        (lambda plan: plan["cards"][0]["question"].update(answer={"node_of": "nobody"}), "nobody has 0 attempts"),
        (lambda plan: plan["cards"][0]["question"].update(answer={"colour_of": "web"}), "a fact has one of"),
        (lambda plan: plan["cards"][0]["question"].update(answer={"fits": "nobody"}), "there is no pod nobody"),
        (
            lambda plan: plan["cards"][0]["question"].update(answer={"nominated_for": "web"}),
            "card begin: its question has no answer",
        ),
        (lambda plan: plan["cards"][0].pop("question"), "it has 1 questions"),
        (lambda plan: plan["cards"][1].update(when={}), "card begin is passed over"),
        (lambda plan: plan["cards"][0].update(when={"seconds": 0}), "card begin is the first one"),
        (lambda plan: plan["cards"][2].update(when={"seconds": 100_000}), "card freed is never reached"),
        (lambda plan: plan["facts"].pop("place"), "there is no fact place"),
        (lambda plan: plan["task"].update(solution=[]), "does not hold after the solution"),
        (lambda plan: plan["task"].update(check={"pod": "web", "outcome": "scheduled"}), "holds before"),
        (_without_its_last_card, "after its start the last card does not hold"),
        (lambda plan: plan.update(next="nowhere"), "there is no lesson nowhere"),
    ],
)
def test_what_is_wrong_with_a_lesson_is_said(broken, change, sentence):
    assert sentence in "\n".join(problems(read_lesson(broken(change)), frozenset(LESSONS)))


@pytest.mark.parametrize(
    ("slug", "change", "words", "sentence"),
    [
        ("taints", {"when": {"pod": "web", "point": "Filter"}}, {}, "TaintToleration has no record yet"),
        (
            "weights",
            {"when": {"pod": "with-affinity", "point": "Score"}, "stage": ""},
            {"text": "A sum of {one}."},
            "{one} is not known yet",
        ),
        (
            "weights",
            {"when": {"pod": "with-affinity", "point": "Score"}},
            {},
            "NodeAffinity has no record on the stage",
        ),
        ("spread-one", {"when": {"pod": "mypod", "point": "PreScore"}, "stage": ""}, {}, "is still ahead in PreScore"),
        ("spread-one", {}, {"text": "`node7` is refused."}, "`node7` is not on the stage"),
        ("spread-one", {}, {"text": "Of 9 nodes, none."}, "the number 9 is not on the stage"),
        ("spread-one", {}, {"text": "ImageLocality prefers it."}, "ImageLocality has no record yet"),
        ("spread-one", {}, {"text": "A zone of {after_b} pods."}, "{after_b} is not known yet"),
        ("spread-one", {}, {"text": "(A note of 9 words about another text.)"}, ""),
    ],
)
def test_a_card_describes_what_its_step_shows(broken, slug, change, words, sentence):
    folder = broken(lambda plan: plan["cards"][1].update(change), slug)
    path = folder / "en.yaml"
    said = yaml.safe_load(path.read_text())
    said["cards"][read_lesson(folder).plan.cards[1].id].update(words)
    path.write_text(yaml.safe_dump(said))
    lesson = read_lesson(folder)
    found = [what for what in find_unshown(lesson, play(lesson)) if what.startswith("en.yaml")]
    assert any(sentence in what for what in found) if sentence else not found


def test_what_is_known_before_the_answer_holds_the_evidence_and_no_outcome(played):
    world = played["taints"].seen.at["begin"]
    given = present(world, Look(), "taints").context["latest"]["given"]
    assert [(node["name"], node["taints"]) for node in given["nodes"]] == [
        ("gpu", ["dedicated=gpu:NoSchedule"]),
        ("worker", []),
    ]
    assert given["pods"][0]["names"] == ["web"] and "cpu: '2'" in given["pods"][0]["text"]
    used = present(played["node-pressure"].seen.at["begin"], Look(), "node-pressure").context["latest"]["given"]
    assert "api (app=api, priority: 100, usage.memory: 800Mi, requests.memory: 256Mi)" in used["nodes"][0]["pods"]
    elected = present(played["clock-skew"].seen.at["cut"], Look(), "clock-skew").context["latest"]["given"]
    assert elected["nodes"] == []
    assert [(each["kind"], "renewTime" in each["text"]) for each in elected["pods"]] == [("Lease", True)]


@pytest.mark.parametrize(
    ("slug", "card", "answer", "hints"),
    [
        ("spread-one", "begin", "3", ["Your number is too high.", "Look at %(name)s again. %(why)s"]),
        ("spread-one", "begin", "1", ["Your number is too low.", "You left out a node that no plugin refuses."]),
        ("overhead", "begin", "2", ["Your number is too high.", MEANT["overhead"]]),
        ("ten-nodes", "begin", "7", ["Your number is too high.", MEANT["containers"]]),
        ("taints", "train", "1", ["Your number is too high.", MEANT["allocatable"]]),
        ("how-many-fit", "placed", "9", ["Your number is too high.", MEANT["pieces"]]),
        ("how-many-fit", "placed", "8", ["Your number is too high.", MEANT["limit"]]),
        ("assumed", "refused", "2", ["Your number is too high.", MEANT["cache"]]),
        ("spread-one", "placed", "3", ["Your number is too high.", MEANT["everywhere"]]),
        ("own-plugin", "placed", "4", ["Your number is too low.", MEANT["raw"]]),
        ("hand-over", "standby", "15", ["Your number is too high.", MEANT["duration"]]),
        ("node-pressure", "begin", "api", ["%(name)s is not first."]),
        ("node-pressure", "begin", "batch", ["Correct up to position %(places)s. %(name)s is not next."]),
        ("weights", "normal", "none", ["%(name)s has %(points)s points. Another node has more."]),
    ],
)
def test_a_wrong_answer_gets_hints_made_from_it(played, slug, card, answer, hints):
    asked = next(each for each in LESSONS[slug].plan.cards if each.id == card)
    told = list_hints(asked, played[slug], [answer])
    assert [hint["text"] for hint in told] == hints
    key = as_text(played[slug].keys[card])
    assert not any(key == str(value) for hint in told for value in hint.get("values", {}).values())


def test_most_wrong_numbers_have_a_meaning_which_is_none_of_the_right_number(played):
    asked = [(slug, card, question) for slug in SLUGS for card, question in LESSONS[slug].questions]
    numbers = [(slug, card, question) for slug, card, question in asked if question.kind == "number"]
    told = [(played[slug].meant[card], played[slug].keys[card], question) for slug, card, question in numbers]
    assert sum(bool(meant) for meant, _key, _question in told) * 3 > 2 * len(numbers)
    for meant, key, question in told:
        assert all(each.how in MEANT and not judge(question, key, [str(each.value)]).right for each in meant)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_task_says_what_is_wanted_and_what_is_so_now(slug, played):
    lesson = LESSONS[slug]
    if lesson.plan.task is None:
        return
    goals = list_goals(lesson.plan.task.check, played[slug].last)
    assert goals and any(not goal["done"] for goal in goals)
    for goal in goals:
        assert goal["done"] == (goal["now"] is None)
        in_english(goal["wanted"])


def test_a_goal_says_that_a_gate_holds_its_pod():
    goal = list_goals({"pod": "job", "outcome": "scheduled"}, play(LESSONS["gate"]).seen.at["begin"])[0]
    assert goal["now"]["text"] == "A scheduling gate still holds the pod."


def test_every_waiting_pod_is_known_before_the_answer(played):
    given = present(played["gang-deadlock-ends"].seen.at["begin"], Look(), "gang-deadlock-ends").context["latest"][
        "given"
    ]
    assert sorted(name for each in given["pods"] for name in each["names"]) == ["blue-1", "blue-2", "red-1", "red-2"]
    crowd = world(node("a"), *(pod(f"web-{number}", cpu=str(64 + number)) for number in range(6)))
    given = list_given(crowd, ["default/web-5"], elects=False, text="")
    assert [each["names"] for each in given["pods"]] == [["web-5"], ["web-0"], ["web-1"], ["web-2"]]
    assert given["others"] == ["web-3", "web-4"]


def test_pods_that_are_alike_are_known_once_with_what_they_refer_to_and_the_terms_that_the_question_names(played):
    given = present(played["requests"].seen.at["begin"], Look(), "requests").context["latest"]["given"]
    assert [each["names"] for each in given["pods"]] == [["app-1", "app-2", "app-3", "app-4"]]
    assert given["terms"] == ["allocatable"]
    given = present(played["volume-zone"].seen.at["begin"], Look(), "volume-zone").context["latest"]["given"]
    objects = {each["kind"]: each for each in given["objects"]}
    assert objects["PersistentVolumeClaim"]["names"] == ["data"] and "WaitForFirst" in objects["StorageClass"]["text"]
    assert not any("status" in each["text"] for each in given["objects"])


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("active", "%(pod)s is in the active queue: press Step or Run"),
        ("in flight", "%(pod)s is in its scheduling cycle: press Step or Run"),
        ("binding", "%(pod)s is being bound: press Step or Run"),
    ],
)
def test_a_goal_says_where_its_pod_is_on_the_way_to_its_node(place, sentence):
    sim = world(node("a"), pod("web-1"))
    sim.run(until=lambda at: at.journal.place("default/web-1") == place)
    assert list_goals({"pod": "web-1", "place": "bound"}, sim)[0]["now"]["text"] == sentence


def test_a_refused_pod_group_is_not_said_to_back_off_after_an_error(played):
    sim = played["gang-deadlock-ends"].seen.at["blue"]
    backing_off = shown("queues", sim)["cards"]["queue-backoff"]["pods"]
    assert [pod["error"] for pod in backing_off] == [False]


def test_a_lesson_in_one_language_is_not_well(broken):
    folder = broken(lambda plan: None)
    (folder / "zh-hans.yaml").unlink()
    assert "zh-hans.yaml is missing" in problems(read_lesson(folder))


def test_the_command_lists_the_lessons_for_machines():
    call_command("lessons", "--json", stdout=(out := io.StringIO()))
    require_printed(("lessons", "json"), out.getvalue())
    rows = json.loads(out.getvalue())["lessons"]
    assert {row["slug"] for row in rows} == set(LESSONS)
    assert all(row["languages"] == ["en", "zh-hans"] and row["questions"] >= 2 for row in rows)


def test_the_command_checks_the_lessons_of_a_folder(broken):
    folder = broken(lambda plan: plan.pop("next"))
    call_command("lessons", "--check", "--json", "--from", str(folder.parent), stdout=(out := io.StringIO()))
    require_printed(("lessons", "json"), out.getvalue())
    assert json.loads(out.getvalue()) == {
        "schema": "lessons/v1",
        "lessons": [
            {
                "slug": "gate",
                "track": "queue-and-time",
                "languages": ["en", "zh-hans"],
                "steps": 4,
                "questions": 2,
                "minutes": 3,
                "ok": True,
            }
        ],
    }


def test_the_command_says_what_is_wrong_and_ends_with_1(broken, capsys):
    folder = broken(lambda plan: plan["task"].update(solution=[]))
    with pytest.raises(SystemExit) as ended:
        call_command("lessons", "--check", "--from", str(folder.parent), stderr=(said := io.StringIO()))
    assert ended.value.code == 1
    assert "gate: task: its check does not hold" in said.getvalue()


def test_a_folder_that_can_not_be_read_is_an_error_of_its_file(broken):
    folder = broken(lambda plan: plan.pop("track"))
    with pytest.raises(CommandError, match=r"gate/lesson\.yaml"):
        call_command("lessons", "--from", str(folder.parent))


@pytest.mark.parametrize("slug", SLUGS)
def test_the_record_that_answers_a_question_is_the_end_of_that_attempt(slug, played):
    attempts = played[slug].end.journal.attempts
    for card, evidence in played[slug].evidence.items():
        found = nth_attempt(attempts, evidence.pod, evidence.attempt)
        assert found is not None and found.last_position == evidence.position
        if LESSONS[slug].plan.cards and evidence.stage == "filter":
            assert len(evidence.said) >= sum(count for _reason, count in found.refusals[:1]), card


def test_a_node_that_is_not_the_answer_says_why():
    """In `taints` nodes are refused, and the record says by what."""
    said = {
        (slug, name): text
        for slug, lesson in LESSONS.items()
        for card, question in lesson.questions
        if question.kind == "node" and card in (found := play(lesson).evidence)
        for name, text in found[card].said.items()
    }
    assert any("untolerated taint" in text for text in said.values())
    assert any(text.isdecimal() for text in said.values())


def test_every_kind_of_fact_that_has_a_record_is_a_fact():
    assert STAGES.keys() <= FACTS.keys()


@pytest.mark.parametrize("slug", SLUGS)
def test_what_a_page_is_given_of_a_question_holds_no_key(slug, played):
    context = present(played[slug].end, Look(), slug).context
    cards = [*context["chapters"], context["latest"]]
    asked = {card.id for card in LESSONS[slug].plan.cards if card.question is not None}
    assert len([card for card in cards if card["question"]]) == len(asked)
    for card in cards:
        assert not card["question"] or set(card["question"]) == {"kind", "options", "places"}
        assert all(set(words) == {"text", "ask", "do"} for words in card["words"].values())


def test_only_what_is_said_of_an_answer_may_name_it(broken):
    folder = broken(lambda plan: None)
    for language in ("en", "zh-hans"):
        path = folder / f"{language}.yaml"
        words = yaml.safe_load(path.read_text())
        words["cards"]["begin"]["ask"] += " {answer}"
        path.write_text(yaml.safe_dump(words, allow_unicode=True))
    assert "en.yaml: card begin: there is no fact answer" in problems(read_lesson(folder))
