"""What lessons say of the worked examples of the Kubernetes documentation, held against what the documentation says."""

import re
from pathlib import Path

import pytest

from playground.lessons import play, read_lessons
from scheduler_core.apiserver.eviction import SEVERAL
from scheduler_core.world.readonly import parse_quantity

LESSONS = {lesson.slug: lesson for lesson in read_lessons()}


@pytest.fixture(scope="module")
def played():
    kept = {}

    def of(slug):
        if slug not in kept:
            kept[slug] = play(LESSONS[slug])
        return kept[slug]

    return of


@pytest.mark.parametrize(
    ("slug", "card", "key"),
    [
        ("spread-one", "begin", 2),  # one constraint: only the nodes of zone B
        ("spread-one", "gone", 4),  # maxSkew 2: zone A as well
        ("spread-two", "begin", "node4"),  # two constraints: only node4
        ("spread-conflict", "begin", False),  # two constraints that contradict: Pending
        ("spread-conflict", "stuck", "node3"),  # one of them ScheduleAnyway
        ("spread-affinity", "begin", 2),  # zone C excluded by node affinity: zone B
        ("spread-affinity", "stuck", "node5"),  # without affinity: zone C
        ("spread-domains", "begin", "node-c"),  # 2, 2 and 1: the global minimum is 1
        ("spread-conventions", "begin", "node2"),  # a node without the key is bypassed with its pods
        ("spread-conventions", "placed", 2),  # so is a node with a misspelt one
        ("spread-conventions", "second", 2),  # a pod that its own selector does not match
        ("overhead", "begin", 1),  # 2.25 cpu fit, 2.2 do not
        ("three-taints", "ready", True),  # keeps running with three taints and two tolerations
        ("three-taints", "evicted", False),  # and is not scheduled there
        ("second-pass", "nominated", False),  # a server does not count on a nominated database
        ("not-preempted", "friend", 2),  # the attempt that preempts, and the one that is bound
        ("cross-node", "begin", False),
        ("pod-affinity", "begin", 3),
        ("own-plugin", "placed", 50),  # 4 of 8 lights
        ("minimum-reclaim", "running", ("big-1",)),  # the threshold of 1Gi alone
        ("minimum-reclaim", "again", "Failed"),  # 500Mi beyond it
        ("two-budgets", "ready", 1),  # 500 for the pod that two budgets cover
        ("two-budgets", "alone", True),
        ("ten-nodes", "begin", 4),  # of ten nodes three lack cpu, one has no free port, two have a taint
        ("ten-nodes", "scores", "node-2"),
        ("node-affinity", "begin", 2),  # In (antarctica-east1, antarctica-west1)
        ("node-affinity", "placed", 1),  # the affinity of the profile foo-scheduler besides
        (
            "nominated-elsewhere",
            "taken",
            ("batch-2",),
        ),  # a nomination that was cleared makes preemption elsewhere possible
        ("nominated-elsewhere", "landed", "node-3"),  # not the nominated node
        ("dead-node", "tainted", 300.0),
        ("node-order", "begin", ("node-1", "node-5", "node-2", "node-6", "node-3", "node-4")),
    ],
)
def test_a_worked_example_comes_out_as_documented(slug, card, key, played):
    assert played(slug).keys[card] == key


def test_the_worked_bin_packing_scores_are_those_of_the_documentation(played):
    """5 and 7 there, each resource rounded to 0-10; kube-scheduler has computed with 0-100 since."""
    assert played("ratio-worked").keys["begin"] == 60
    assert played("ratio-worked").keys["one"] == 69
    assert played("ratio-worked").facts["node"] == "node2"


def test_the_totals_of_balance_and_image_are_those_of_the_overview(played):
    facts = played("ten-nodes").facts
    assert [facts[f"total_{number}"] for number in range(1, 5)] == [130, 170, 120, 130]


def test_the_preferences_of_weight_1_and_50_become_2_and_100(played):
    facts = played("weights").facts
    assert (facts["one"], facts["two"], facts["norm_one"], facts["norm_two"]) == (1, 50, 2, 100)


def test_a_revision_that_counts_the_old_one_is_uneven_and_the_solution_makes_it_even():
    for seed in range(3):
        facts = play(LESSONS["uneven-after-rollout"], seed).facts
        assert (facts["new_a"], facts["new_b"], facts["new_c"]) == (0, 2, 2)


DOCS = Path(__file__).parents[2] / "docs" / "lessons.md"
SPEAKS_OF_AN_EXAMPLE = re.compile(r"the documentation|the design document", re.IGNORECASE)


def worked_examples():
    """The table of docs/lessons.md: text, example, the lessons that play it."""
    section = DOCS.read_text(encoding="utf-8").split("## The worked examples")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in row) for row in rows[2:]]


def test_every_worked_example_has_lessons_that_exist_or_says_why_not():
    rows = worked_examples()
    assert len(rows) > 60
    for _text, example, played_by in rows:
        slugs = re.findall(r"`([a-z-]+)`", played_by)
        assert set(slugs) <= set(LESSONS), example
        assert slugs or re.match(r"none: \w+", played_by), example


def test_every_lesson_that_says_it_follows_an_example_is_in_the_table():
    named = {slug for *_, played_by in worked_examples() for slug in re.findall(r"`([a-z-]+)`", played_by)}
    say_so = {
        slug for slug, lesson in LESSONS.items() if SPEAKS_OF_AN_EXAMPLE.search(" ".join(lesson.words["en"].texts()))
    }
    assert {"ratio-worked", "own-plugin", "backoff-ladder"} <= say_so
    assert say_so <= named


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_refusal_that_a_lesson_quotes_is_the_api_servers_own(language):
    texts = " ".join(" ".join(LESSONS["two-budgets"].words[language].texts()).split())
    assert f"`{SEVERAL}`" in texts


def test_what_is_left_of_a_disk_is_what_its_world_says():
    """The disk of `thorough` as its pods go, the largest first: short, above the threshold, above it by the minimum reclaim."""
    plan = LESSONS["minimum-reclaim"].plan
    kubelet = plan.settings["cluster"]["kubelets"]["thorough"]["evictionMinimumReclaim"]
    threshold = in_mi(plan.settings["cluster"]["kubelet"]["evictionHard"]["nodefs.available"])
    entries = next(card.do.command["entries"] for card in plan.cards if card.id == "stopped")
    disk = entries[-1]["nodefs"]
    sizes = [in_mi(entry["rootfs"]) for entry in entries if "rootfs" in entry]
    left = [in_mi(disk["capacity"]) - in_mi(disk["used"]) - sum(sizes[gone:]) for gone in range(3)]
    assert left[0] < threshold < left[1] < threshold + in_mi(kubelet["nodefs.available"]) <= left[2]
    facts = play(LESSONS["minimum-reclaim"]).facts
    said = [f"{amount}Mi" for amount in (left[1], left[1] - threshold, left[2])]
    assert [facts["then"], facts["over"], facts["reclaimed"]] == said


def in_mi(quantity):
    return int(parse_quantity(quantity) / parse_quantity("1Mi"))
