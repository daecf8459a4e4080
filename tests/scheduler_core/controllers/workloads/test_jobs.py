import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import parse_time
from scheduler_core.controllers.memory.workloads import Failures
from scheduler_core.controllers.workloads.jobs import backoff, indexes
from scheduler_core.controllers.workloads.jobs.policies import is_success, judge
from tests.scheduler_core.controllers.workloads.hands import SECOND, Hands, template

TRACKING = "batch.kubernetes.io/job-tracking"


def job(pod=None, **spec):
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"template": template(**{"restartPolicy": "Never", **(pod or {})}), **spec},
    }


def status(hands):
    return hands.get("Job")["status"]


def condition(hands, type_):
    found = [one for one in status(hands).get("conditions") or () if one["type"] == type_]
    return (found[0]["status"], found[0]["reason"]) if found else None


def end(hands, name, phase="Succeeded", code=0):
    finished = hands.store.timestamp(hands.sim.now)
    ended = {"terminated": {"exitCode": code, "finishedAt": finished}}
    hands.set_status(name, phase, ready=False, containerStatuses=[{"name": "c", "state": ended}])
    hands.run(2)


def alive(hands):
    return [pod for pod in hands.pods() if not pod.terminal]


def pod(exit_code=None, conditions=(), containers=None, annotations=None):
    named = containers or ({"c": exit_code} if exit_code is not None else {})
    statuses = [{"name": n, "state": {"terminated": {"exitCode": code}}} for n, code in named.items()]
    meta = {"name": "p", "namespace": "default", "annotations": annotations or {}}
    return Pod.from_manifest(
        {
            "metadata": meta,
            "spec": {"containers": [{"name": "c"}]},
            "status": {"phase": "Failed", "containerStatuses": statuses, "conditions": list(conditions)},
        }
    )


# what kube's own tables say


@pytest.mark.parametrize(
    ("text", "completions", "found"),
    [
        ("", 5, []),
        ("0", 5, [0]),
        ("0-2,4", 5, [0, 1, 2, 4]),
        ("1,3-9", 5, [1, 3, 4]),
        ("x,1-y,2", 5, [2]),
        ("7", 5, []),
    ],
)
def test_indexes_are_read(text, completions, found):
    assert sorted(indexes.parse(text, completions)) == found


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([4], "4"), ([1, 2], "1,2"), ([5, 0, 1, 2], "0-2,5"), ([3, 4, 7, 8], "3,4,7,8")]
)
def test_indexes_are_written(numbers, text):
    assert indexes.text(numbers) == text


RULES = [
    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [2, 3]}},
    {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [4]}},
    {"action": "Count", "onExitCodes": {"containerName": "side", "operator": "NotIn", "values": [5]}},
]


@pytest.mark.parametrize(
    ("failed", "counts", "action", "message"),
    [
        (pod(1), True, "", ""),
        (pod(0), True, "", ""),
        (pod(conditions=[{"type": "DisruptionTarget", "status": "True"}]), False, "Ignore", ""),
        (pod(conditions=[{"type": "DisruptionTarget", "status": "False"}]), True, "", ""),
        (
            pod(2),
            True,
            "FailJob",
            "Container c for pod default/p failed with exit code 2 matching FailJob rule at index 1",
        ),
        (pod(4), True, "FailIndex", ""),
        (pod(containers={"c": 1, "side": 6}), True, "Count", ""),
        (pod(containers={"c": 1, "side": 5}), True, "", ""),
    ],
)
def test_the_first_rule_that_matches_decides(failed, counts, action, message):
    """kube: pod_failure_policy_test.go (TestMatchPodFailurePolicy)"""
    assert judge({"rules": RULES}, failed) == (message, counts, action)


def test_a_condition_fails_the_job_in_kubes_words():
    rules = [{"action": "FailJob", "onPodConditions": [{"type": "ConfigIssue", "status": "True"}]}]
    message = judge({"rules": rules}, pod(conditions=[{"type": "ConfigIssue", "status": "True"}])).message
    assert message == "Pod default/p has condition ConfigIssue matching FailJob rule at index 0"


@pytest.mark.parametrize(
    ("rule", "succeeded", "message"),
    [
        ({"succeededIndexes": "0-2"}, {0, 1}, ""),
        ({"succeededIndexes": "0-2"}, {0, 1, 2}, "Matched rules at index 0"),
        ({"succeededIndexes": "0-2", "succeededCount": 2}, {0, 2}, "Matched rules at index 0"),
        ({"succeededIndexes": "0-2", "succeededCount": 2}, {0, 7}, ""),
        ({"succeededCount": 2}, {7, 8}, "Matched rules at index 0"),
        ({"succeededIndexes": ""}, {0}, ""),
    ],
)
def test_a_success_policy_is_met(rule, succeeded, message):
    assert is_success({"rules": [rule]}, 10, frozenset(succeeded)) == message


@pytest.mark.parametrize(("number", "seconds"), [(0, None), (1, 10), (2, 20), (3, 40), (6, 320), (7, 600), (30, 600)])
def test_the_pause_after_failures_doubles_up_to_ten_minutes(number, seconds):
    at = backoff.waits_until(number, 1000 * SECOND)
    assert at == (0 if seconds is None else (1000 + seconds) * SECOND)


def test_failures_are_counted_anew_after_a_success():
    def ended(at):
        finished = {"terminated": {"exitCode": 1, "finishedAt": f"2026-01-01T00:00:{at}Z"}}
        one = pod()
        status = {"phase": "Failed", "containerStatuses": [{"name": "c", "state": finished}]}
        return Pod.from_manifest({**one.manifest, "status": status})

    last = parse_time("2026-01-01T00:00:30Z")
    assert backoff.after(Failures(2, 5), [], [ended(10), ended(30)]) == (4, last)
    assert backoff.after(Failures(2, 5), [ended(20)], [ended(10), ended(30)]) == (1, last)
    assert backoff.after(Failures(2, 5), [ended(40)], [ended(30)]) == (0, 0)
    assert backoff.after(Failures(2, 5), [], []) == (2, 5)


# the controller


def test_pods_are_known_by_the_jobs_uid_and_counted_by_a_finalizer():
    hands = Hands(job())
    hands.run()
    uid = hands.get("Job")["metadata"]["uid"]
    assert hands.get("Job")["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    (one,) = hands.pods()
    assert one.labels == {
        "app": "a",
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "a",
        "controller-uid": uid,
        "job-name": "a",
    }
    assert one.manifest["metadata"]["finalizers"] == [TRACKING]


def test_a_job_is_complete_once_enough_pods_have_succeeded():
    hands = Hands(job(completions=3, parallelism=2))
    hands.run(2)
    assert (len(hands.pods()), status(hands)["active"]) == (2, 2)
    while alive(hands):
        end(hands, alive(hands)[0].name)
    assert status(hands)["succeeded"] == 3
    assert condition(hands, "Complete") == ("True", "CompletionsReached")
    assert "active" not in status(hands)
    assert not any("finalizers" in one.manifest["metadata"] for one in hands.pods())
    assert len(hands.pods()) == 3


def test_a_job_without_completions_ends_with_the_first_success():
    hands = Hands(job(parallelism=2))
    hands.run(2)
    first, second = alive(hands)
    end(hands, first.name)
    assert condition(hands, "Complete") is None
    assert len(alive(hands)) == 1
    end(hands, second.name)
    assert condition(hands, "Complete") == ("True", "CompletionsReached")


def test_failures_pause_and_end_the_job_beyond_the_limit():
    hands = Hands(job(backoffLimit=1))
    hands.run(2)
    end(hands, alive(hands)[0].name, "Failed", 1)
    assert alive(hands) == []
    assert status(hands)["failed"] == 1
    hands.run(7)
    assert alive(hands) == []
    hands.run(3)
    end(hands, alive(hands)[0].name, "Failed", 1)
    assert condition(hands, "Failed") == ("True", "BackoffLimitExceeded")
    assert condition(hands, "FailureTarget") == ("True", "BackoffLimitExceeded")
    assert status(hands)["failed"] == 2


def test_restarts_count_against_the_limit_where_containers_are_restarted():
    hands = Hands(job({"restartPolicy": "OnFailure"}, backoffLimit=2))
    hands.run(2)
    (one,) = alive(hands)
    hands.set_status(one.name, "Running", containerStatuses=[{"name": "c", "restartCount": 2}])
    hands.run(3)
    assert condition(hands, "Failed") == ("True", "BackoffLimitExceeded")
    assert alive(hands) == []


def test_a_deleted_pod_is_replaced_at_once_or_when_it_has_ended():
    for policy, alive_soon in (("TerminatingOrFailed", 1), ("Failed", 0)):
        hands = Hands(job(podReplacementPolicy=policy))
        hands.run(2)
        name = alive(hands)[0].name
        hands.set_status(name, node="n1")
        hands.delete("Pod", name)
        hands.run(15)
        assert len(alive(hands)) == alive_soon
        hands.set_status(name, "Failed", ready=False)
        hands.delete("Pod", name, grace=0)
        hands.run(25)
        assert len(alive(hands)) == 1
        assert status(hands)["failed"] == 1


def test_a_deadline_ends_the_job():
    hands = Hands(job(activeDeadlineSeconds=20, parallelism=2, completions=2))
    hands.run(19)
    assert condition(hands, "Failed") is None
    hands.run(4)
    assert condition(hands, "Failed") == ("True", "DeadlineExceeded")
    assert alive(hands) == []


def test_a_deadline_of_a_job_that_is_complete_is_nothing_to_wait_for():
    hands = Hands(job(activeDeadlineSeconds=3600))
    hands.run(2)
    end(hands, alive(hands)[0].name)
    assert condition(hands, "Complete") == ("True", "CompletionsReached")
    assert not hands.sim.due(hands.sim.now + 7200 * SECOND)


def test_a_suspended_job_has_no_pods_and_its_time_begins_anew():
    hands = Hands(job(suspend=True))
    hands.run(2)
    assert hands.pods() == []
    assert "startTime" not in status(hands)
    assert condition(hands, "Suspended") == ("True", "JobSuspended")
    hands.patch("Job", {"spec": {"suspend": False}})
    hands.run(2)
    assert len(hands.pods()) == 1
    assert condition(hands, "Suspended") == ("False", "JobResumed")
    hands.patch("Job", {"spec": {"suspend": True}})
    hands.run(2)
    assert hands.pods() == []


def test_indexed_pods_carry_their_index():
    hands = Hands(job(completionMode="Indexed", completions=3, parallelism=2))
    hands.run(2)
    assert [indexes.index_of(one) for one in hands.pods()] == [0, 1]
    one = hands.pods()[0]
    assert one.name.startswith("a-0-")
    assert one.manifest["spec"]["hostname"] == "a-0"
    assert one.manifest["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"
    end(hands, hands.pods()[1].name)
    assert status(hands)["completedIndexes"] == "1"
    assert [indexes.index_of(one) for one in alive(hands)] == [0, 2]


def test_an_index_fails_by_its_own_limit():
    hands = Hands(job(completionMode="Indexed", completions=2, parallelism=2, backoffLimitPerIndex=1))
    hands.run(2)
    for _ in range(2):
        (first,) = [one for one in alive(hands) if indexes.index_of(one) == 0]
        end(hands, first.name, "Failed", 1)
        hands.run(12)
    assert status(hands)["failedIndexes"] == "0"
    end(hands, alive(hands)[0].name)
    assert condition(hands, "Failed") == ("True", "FailedIndexes")
    assert status(hands)["completedIndexes"] == "1"


def test_a_rule_fails_the_job():
    rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]
    hands = Hands(job(podFailurePolicy={"rules": rules}, completions=2, parallelism=2))
    hands.run(2)
    end(hands, alive(hands)[0].name, "Failed", 42)
    hands.run(3)
    assert condition(hands, "Failed") == ("True", "PodFailurePolicy")
    assert alive(hands) == []


def test_an_ignored_failure_is_replaced_and_not_counted():
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    hands = Hands(job(podFailurePolicy={"rules": rules}, backoffLimit=0))
    hands.run(2)
    name = alive(hands)[0].name
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    hands.set_status(name, "Failed", ready=False, conditions=disrupted)
    hands.run(15)
    assert len(alive(hands)) == 1
    assert "failed" not in status(hands)


def test_a_success_policy_ends_the_job_early():
    rules = [{"succeededCount": 1}]
    hands = Hands(job(completionMode="Indexed", completions=3, parallelism=3, successPolicy={"rules": rules}))
    hands.run(2)
    end(hands, alive(hands)[0].name)
    hands.run(2)
    assert condition(hands, "Complete") == ("True", "SuccessPolicy")
    assert alive(hands) == []


def test_pods_of_a_job_that_has_gone_are_let_go():
    hands = Hands(job())
    hands.run(2)
    hands.delete("Job", propagation="Background")
    hands.run(2)
    assert not any("finalizers" in one.manifest["metadata"] for one in hands.pods())
