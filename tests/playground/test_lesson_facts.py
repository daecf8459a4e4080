"""What lessons can ask of schedulers' processes, queues, devices and evictions, against worlds whose answers are known."""

import pytest

from playground.lessons import play, read_lesson
from playground.lessons.conditions import holds
from playground.lessons.facts import BadFact, LessonObservations, value_of
from playground.lessons.reading import CONTENT


@pytest.fixture(scope="module")
def election():
    """Two schedulers, of which the leader is killed."""
    return play(read_lesson(CONTENT / "leader-election"))


@pytest.fixture(scope="module")
def devices():
    """Two GPUs, four pods."""
    return play(read_lesson(CONTENT / "devices-run-out"))


def told(fact, played):
    return value_of({"card": "end", **fact}, LessonObservations(played.end, {"end": played.end}), "end")


def test_who_leads_is_known_from_the_processes(election):
    assert told({"leaders": True}, election) == ("blue",)
    assert told({"leads": "blue"}, election) is True
    assert told({"leads": "red"}, election) is False
    assert told({"count": {"leaders": True}}, election) == 1


def test_a_process_came_to_a_stage_when_the_journal_says_so(election):
    (since,) = [
        move.t for move in election.end.journal.processes if (move.scheduler, move.state) == ("blue", "leading")
    ]
    assert told({"entered": "blue", "stage": "leading"}, election) == round(since / 1e9, 2)
    assert holds({"scheduler": "red", "stage": "leading"}, election.end)
    assert not holds({"scheduler": "red", "stage": "cut off"}, election.end)
    assert not holds({"scheduler": "red", "stage": "leading", "times": 2}, election.end)
    with pytest.raises(BadFact, match="red was leading 1 times"):
        told({"entered": "red", "stage": "leading", "times": 2}, election)


def test_the_gap_without_a_leader_is_at_least_what_is_left_of_the_lease(election):
    assert 13 <= election.facts["gap"] <= 24
    assert election.facts["transitions"] == 1


def test_virtual_time_and_recorded_events_are_conditions(election):
    assert holds({"seconds": 12}, election.end)
    assert not holds({"seconds": election.end.now / 1e9 + 1}, election.end)
    assert holds({"event": "LeaderElection"}, election.end)
    assert holds({"event": "Scheduled", "pod": "late"}, election.end)
    assert not holds({"event": "Scheduled", "pod": "nobody"}, election.end)


def test_what_woke_a_pod_is_the_event_and_whose_hint_it_was(devices):
    event = "resource.k8s.io/ResourceClaimUpdate"
    assert told({"woken_by": "infer"}, devices) == event
    assert told({"hint_of": "infer"}, devices) == "DynamicResources"
    assert holds({"pod": "infer", "woken": event}, devices.end)
    assert not holds({"pod": "infer", "woken": "NodeAdd"}, devices.end)
    with pytest.raises(BadFact, match="encode has 1 attempts"):
        told({"woken_by": "encode"}, devices)


def test_the_devices_of_a_claim_are_those_of_its_allocation(devices):
    assert told({"devices_of": "nothing"}, devices) == ()
    shared = play(read_lesson(CONTENT / "device-claim"))
    assert told({"devices_of": "big"}, shared) == ("gpu-1",)


def test_a_refusal_that_preemption_can_not_help_nominates_nobody(devices):
    assert told({"preempts": "vip"}, devices) is False
    assert "cannot allocate all claims" in told({"message_of": "vip"}, devices)


def test_a_count_is_of_a_list_of_names(devices):
    with pytest.raises(BadFact, match="is no list of names"):
        told({"count": {"seconds": True}}, devices)


def test_a_backoff_lasts_as_long_as_the_failures_before_ask_for():
    ladder = play(read_lesson(CONTENT / "backoff-ladder"))
    assert [told({"backoff_of": "web", "attempt": n}, ladder) for n in range(1, 6)] == [1, 2, 4, 8, 10]
    with pytest.raises(BadFact, match="does not back off"):
        told({"backoff_of": "web", "attempt": 6}, ladder)


def test_an_event_in_flight_is_kept_and_wakes_the_pod_that_fails():
    told_by = play(read_lesson(CONTENT / "in-flight")).facts
    assert (told_by["heard"], told_by["event"], told_by["place"]) == (1, "NodeAdd", "backoff")


def test_an_event_wakes_those_whose_plugins_hope_for_it():
    hints = play(read_lesson(CONTENT / "hints"))
    assert told({"woken": "AssignedPodDelete"}, hints) == ("needs-cpu",)
    assert told({"woken": "NodeUpdateNodeLabel"}, hints) == ("needs-both", "needs-ssd")
    assert told({"woken": "ServiceAdd"}, hints) == ()


def test_a_scheduler_that_is_cut_off_is_known():
    cut = play(read_lesson(CONTENT / "cut-off"))
    assert holds({"scheduler": "red", "stage": "cut off"}, cut.end)
    assert holds({"pod": "late", "evaluated": 2}, cut.end)
    assert not holds({"pod": "late", "evaluated": 3}, cut.end)


def test_those_evicted_for_node_pressure_come_in_their_order():
    lesson = read_lesson(CONTENT / "node-pressure")
    pressure = play(lesson)
    assert pressure.facts["ranking"] == ("batch", "cache", "api", "report")
    assert told({"evicted": True}, pressure) == ("batch", "cache")
    with pytest.raises(BadFact, match="the kubelet of node-9 has evicted nobody"):
        told({"ranking": "node-9"}, pressure)


def test_what_a_kubelet_measures_is_an_amount_as_manifests_have_it():
    reclaim = play(read_lesson(CONTENT / "minimum-reclaim"))
    facts = reclaim.facts
    assert (facts["then"], facts["over"], facts["reclaimed"]) == ("1300Mi", "276Mi", "1700Mi")
    disk = {"signal": "nodefs.available"}
    assert told({"left_on": "thorough", **disk}, reclaim) == "1700Mi"
    assert told({"beyond_on": "thorough", **disk}, reclaim) == "676Mi"
    for wrong in ({"left_on": "node-9", **disk}, {"left_on": "plain", "signal": "heat"}):
        with pytest.raises(BadFact, match="does not measure"):
            told(wrong, reclaim)


def test_what_is_requested_on_a_node_is_told_with_a_pod_that_is_not_there_yet():
    worked = play(read_lesson(CONTENT / "ratio-worked"))
    shares = [worked.facts[f"{resource}_{node}"] for node in ("one", "two") for resource in ("foo", "memory", "cpu")]
    assert shares == [75, 50, 37.5, 50, 75, 100]
    node2 = {"resource": "cpu"}
    assert told({"free_on": "node2", **node2}, worked) == "0"
    assert told({"share_on": "node2", **node2}, worked) == 100
    assert told({"share_on": "node2", "with": "mypod", **node2}, worked) == 100  # it is there, and counts once
    assert told({"free_on": "node1", "resource": "memory"}, worked) == "704Mi"
    with pytest.raises(BadFact, match="node2 has no heat"):
        told({"free_on": "node2", "resource": "heat"}, worked)


def test_a_sample_of_the_nodes_is_looked_at():
    facts = play(read_lesson(CONTENT / "sampling")).facts
    assert (facts["ev"], facts["ev2"], facts["ev3"]) == (144, 144, 300)


def test_extension_points_come_in_the_order_in_which_they_ran():
    sequence = play(read_lesson(CONTENT / "sequence"))
    assert sequence.facts["order"] == ("PreFilter", "Filter", "Score", "Reserve", "PreBind")
    with pytest.raises(BadFact, match="PostFilter has not run for api"):
        told({"ran": ["Filter", "PostFilter"], "of": "api"}, sequence)
