"""Every story, run with the real engine: its chapters come in order, and what it claims is what is decided."""

from collections.abc import Callable
from pathlib import Path

import pytest

from playground.stories import ReachedChapter, Story, all_stories, conditions, reached_chapters, story
from playground.stories.loader import read
from scheduler_core.api.status import Refused
from scheduler_core.simulation import Grain, Simulation

SLUGS = [each.slug for each in all_stories()]
MOST_STEPS = 5_000


class Reader:
    """Steps a story by the smallest grain, and presses each button `patience` steps after it is offered."""

    def __init__(self, slug: str, seed: int = 0, patience: int = 0) -> None:
        found = story(slug)
        assert found is not None
        self.story: Story = found
        self.patience = patience
        self.waited = 0
        self.sim = Simulation(seed=seed)
        self.reached: list[int] = []
        self.pressed: set[int] = set()
        self.look: Callable[[int, Simulation], None] = lambda number, sim: None
        for command in found.commands:
            self.sim.apply(command)

    def read(self) -> "Reader":
        for _ in range(MOST_STEPS):
            self._listen()
            if len(self.reached) == len(self.story.chapters) or not self._go_on():
                break
        return self

    def _listen(self) -> None:
        for chapter in reached_chapters(self.story, self.sim)[len(self.reached) :]:
            self.reached.append(chapter.number)
            self.look(chapter.number, self.sim)

    def _go_on(self) -> bool:
        latest = reached_chapters(self.story, self.sim)[-1]
        may_press = latest.action is not None and latest.number not in self.pressed
        if may_press and self.waited < self.patience and self._step():
            self.waited += 1
            return True
        self.waited = 0
        return self._press(latest) if may_press else self._step()

    def _step(self) -> bool:
        """Whether anything was left to happen."""
        before = self.sim.position
        self.sim.step(Grain.PLUGIN)
        return self.sim.position > before

    def _press(self, chapter: ReachedChapter) -> bool:
        self.pressed.add(chapter.number)
        self.sim.apply(chapter.action.command)
        return True

    def attempts(self, pod: str) -> list[tuple[str, str]]:
        """(outcome, node or message) of each attempt of a pod."""
        return [
            (each.outcome, each.message if each.outcome == "unschedulable" else each.node)
            for each in self.sim.journal.attempts
            if each.pod == f"default/{pod}"
        ]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_chapter_of_a_story_is_reached_when_its_buttons_are_pressed_at_once(slug):
    reader = Reader(slug).read()
    assert reader.reached == list(range(1, len(reader.story.chapters) + 1))


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug != "permit-and-bind"])
def test_every_chapter_of_a_story_is_reached_when_its_buttons_are_pressed_late(slug):
    reader = Reader(slug, patience=80).read()
    assert reader.reached == list(range(1, len(reader.story.chapters) + 1))


def test_a_button_pressed_too_late_is_refused_and_changes_nothing():
    sim = Reader("permit-and-bind").read().sim
    before = sim.position
    with pytest.raises(Refused, match="waits on Permit"):
        sim.apply(story("permit-and-bind").chapters[-2].action.command)
    assert sim.position == before


@pytest.mark.parametrize("slug", SLUGS)
def test_no_two_chapters_of_a_story_begin_at_the_same_step(slug):
    reader, begun = Reader(slug), []
    reader.look = lambda number, sim: begun.append(sim.position)
    reader.read()
    assert len(set(begun)) == len(begun)


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_story_comes_to_its_end_under_other_seeds(slug, seed):
    reader = Reader(slug, seed).read()
    assert len(reader.reached) == len(reader.story.chapters)


@pytest.mark.parametrize("slug", SLUGS)
def test_going_back_in_the_world_goes_back_in_the_story(slug):
    reader = Reader(slug)
    first = reader.sim.fork()
    reader.read()
    assert [chapter.number for chapter in reached_chapters(reader.story, first)] == [1]


def test_first_placement_goes_to_large_and_the_equal_pod_to_medium():
    reader = Reader("first-placement").read()
    assert reader.attempts("web-1") == [("scheduled", "large")]
    assert reader.attempts("web-2") == [("scheduled", "medium")]


def test_first_placement_scores_as_its_text_says():
    reader, boards = Reader("first-placement"), {}

    def look(number, sim):
        cycle = sim.schedulers[0].cycle
        if cycle is not None and cycle.scores is not None and cycle.outcome:
            names = [cycle.nodes.names[row] for row in cycle.scores.rows]
            boards[cycle.pod.name] = {
                plugin: dict(zip(names, map(int, raw), strict=True))
                for plugin, raw in zip(cycle.scores.plugins, cycle.scores.normalized, strict=True)
            }

    reader.look = look
    reader.read()
    fit, balanced = boards["web-2"]["NodeResourcesFit"], boards["web-2"]["NodeResourcesBalancedAllocation"]
    assert fit["large"] > fit["medium"]
    assert balanced["medium"] > balanced["large"]


def test_first_placement_refuses_small_by_node_resources_fit():
    reader, refused = Reader("first-placement"), {}

    def look(number, sim):
        cycle = sim.schedulers[0].cycle
        if cycle is not None and cycle.feasible is not None and cycle.pod.name == "web-1":
            status = cycle.status_of(cycle.nodes.names.index("small"))
            refused["small"] = (status.plugin, status.reasons)

    reader.look = look
    reader.read()
    assert refused["small"] == ("NodeResourcesFit", ("Insufficient cpu", "Insufficient memory"))


def test_taints_keep_web_away_and_let_train_in():
    reader = Reader("taints").read()
    assert reader.attempts("web") == [("scheduled", "worker")]
    assert reader.attempts("train") == [("scheduled", "gpu")]
    first, second = reader.attempts("api")
    refused = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {dedicated: gpu}."
    assert first[0] == "unschedulable"
    assert first[1].startswith(refused)
    assert second == ("scheduled", "gpu")


def test_spreading_takes_three_nodes_and_packing_one():
    reader = Reader("spread-or-pack").read()
    spread = {reader.attempts(f"spread-{i}")[0][1] for i in (1, 2, 3)}
    pack = {reader.attempts(f"pack-{i}")[0][1] for i in (1, 2, 3)}
    assert (len(spread), len(pack)) == (3, 1)


def test_the_gated_pod_is_never_tried_before_its_gate_is_taken_away():
    reader = Reader("gate").read()
    assert [each.pod for each in reader.sim.journal.attempts] == ["default/web", "default/job"]
    assert [move.place for move in reader.sim.journal.lane("default/job")][:2] == ["gated", "active"]


def test_the_big_pod_backs_off_one_second_and_then_two():
    reader = Reader("backoff").read()
    assert [outcome for outcome, _ in reader.attempts("big")] == [
        "unschedulable",
        "unschedulable",
        "scheduled",
    ]
    first, second, third = [each for each in reader.sim.journal.attempts if each.pod == "default/big"]
    assert second.started - first.ended >= 10**9
    assert third.started - second.ended >= 2 * 10**9
    assert third.node == "node-2"


def test_permit_waits_rejects_and_a_failing_bind_rolls_back():
    reader = Reader("permit-and-bind").read()
    journal = reader.sim.journal
    assert "waiting on permit" in [move.place for move in journal.lane("default/waits")]
    assert journal.place("default/waits") in ("bound", "running")
    assert journal.place("default/fails") in ("bound", "running")
    assert {outcome for outcome, _ in reader.attempts("rejected")} == {"unschedulable"}
    assert "backoff" in [move.place for move in journal.lane("default/fails")]


def test_an_action_is_offered_only_while_its_chapter_is_the_latest():
    reader = Reader("gate", patience=80).read()
    assert [chapter.number for chapter in reached_chapters(reader.story, reader.sim) if chapter.action] == []


def test_a_chapter_waits_for_those_before_it():
    found = read(
        "test",
        "title: t\nsummary: s\nchapters:\n- text: one\n- {when: {exists: Node no}, text: two}\n- text: three\n",
    )
    assert [chapter.text for chapter in reached_chapters(found, Simulation())] == ["one"]


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("exists: Node small", True),
        ("lacks: Node small", False),
        ("exists: Pod default/web-1", True),
        ("exists: Pod web-9", False),
        ("position: 1", True),
        ("position: 2", False),
        ("{pod: web-1, place: active}", True),
        ("{pod: web-1, place: active, times: 2}", False),
        ("{pod: web-1, outcome: scheduled}", False),
        ("{pod: web-1, said: Insufficient}", False),
        ("{any: [{position: 9}, {position: 1}]}", True),
        ("{pod: web-1, point: PreFilter}", False),
    ],
)
def test_a_condition_reads_the_world(when, holds):
    when = when if when.startswith("{") else f"{{{when}}}"
    found = read("test", f"title: t\nsummary: s\nchapters:\n- {{when: {when}, text: one}}\n")
    assert bool(reached_chapters(found, Reader("first-placement").sim)) is holds


def test_every_condition_is_documented():
    documented = (Path(__file__).parents[2] / "docs/stories.md").read_text()
    assert [
        word for word in (*conditions._TESTS, "pod", "attempt", "times") if f"`{word}`" not in documented
    ] == []


def test_two_gangs_wait_for_each_other_until_the_queue_keeps_them_together():
    reader = Reader("gangs").read()
    reader.sim.run(steps=100)
    assert reader.attempts("blue-2")[0][0] == "unschedulable"
    waited = [move.place for move in reader.sim.journal.lane("default/red-1")]
    assert "waiting on permit" in waited
    bound = sorted(pod.name for pod in reader.sim.store.pods() if pod.node_name)
    assert bound in (["red-1", "red-2"], ["blue-1", "blue-2"])
