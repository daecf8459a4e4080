"""What lessons say of the worked examples of the Kubernetes documentation, held against what the documentation says."""

import pytest

from playground.lessons import play, read_lessons

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
        ("not-preempted", "friend", True),
        ("cross-node", "begin", False),
        ("pod-affinity", "begin", 3),
    ],
)
def test_a_worked_example_comes_out_as_documented(slug, card, key, played):
    assert played(slug).keys[card] == key


def test_the_worked_bin_packing_scores_are_those_of_the_documentation(played):
    """5 and 7 there, each resource rounded to 0-10; kube-scheduler has computed with 0-100 since."""
    assert played("ratio-worked").keys["begin"] == 60
    assert played("ratio-worked").keys["one"] == 69
    assert played("ratio-worked").facts["node"] == "node2"


def test_the_preferences_of_weight_1_and_50_become_2_and_100(played):
    facts = played("weights").facts
    assert (facts["one"], facts["two"], facts["norm_one"], facts["norm_two"]) == (1, 50, 2, 100)


def test_a_revision_that_counts_the_old_one_is_uneven_and_the_solution_makes_it_even():
    for seed in range(3):
        facts = play(LESSONS["uneven-after-rollout"], seed).facts
        assert (facts["new_a"], facts["new_b"], facts["new_c"]) == (0, 2, 2)
