import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import SetSettings
from tests.scheduler_core.controllers.workloads.hands import Hands, template

MINUTE = 29_453_760  # of 2026-01-01T00:00Z since 1970
TTL = ["ttl-after-finished-controller", "job-controller", "garbage-collector-controller"]


def cron_job(schedule="* * * * *", job=None, **spec):
    pod = template(restartPolicy="Never")
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {
            "schedule": schedule,
            "jobTemplate": {"metadata": {"labels": {"x": "y"}}, "spec": {"template": pod, **(job or {})}},
            **spec,
        },
    }


def jobs(hands):
    """Minutes of the Jobs, counted from the start of the world."""
    return [int(one["metadata"]["name"].removeprefix("a-")) - MINUTE for one in hands.list("Job")]


def finish(hands, phase="Succeeded"):
    for pod in hands.pods():
        if not pod.terminal:
            hands.set_status(pod.name, phase, ready=False)
    hands.run(3)


def test_a_job_comes_with_each_minute():
    hands = Hands(cron_job())
    hands.run(59)
    assert jobs(hands) == []
    hands.run(70)
    assert jobs(hands) == [1, 2]
    first = hands.list("Job")[0]["metadata"]
    assert first["labels"] == {"x": "y"}
    assert first["annotations"] == {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:01:00Z"}
    status = hands.get("CronJob")["status"]
    assert status["lastScheduleTime"] == "2026-01-01T00:02:00Z"
    assert [one["name"] for one in status["active"]] == [f"a-{MINUTE + 1}", f"a-{MINUTE + 2}"]


def test_a_time_zone_moves_the_moment():
    hands = Hands(cron_job("0 2 * * *", timeZone="Europe/Berlin"))
    hands.run(3600 + 5)
    assert jobs(hands) == [60]
    notes = hands.list("Job")[0]["metadata"]["annotations"]
    assert notes["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "2026-01-01T02:00:00+01:00"


@pytest.mark.parametrize(("policy", "left"), [("Allow", [1, 2, 3]), ("Forbid", [1]), ("Replace", [3])])
def test_the_policy_says_what_becomes_of_a_job_that_still_runs(policy, left):
    hands = Hands(cron_job(concurrencyPolicy=policy))
    hands.run(190)
    assert jobs(hands) == left


def test_a_forbidden_turn_is_made_up_for_when_the_job_before_ends():
    hands = Hands(cron_job("*/2 * * * *", concurrencyPolicy="Forbid"))
    hands.run(250)
    assert jobs(hands) == [2]
    finish(hands)
    assert jobs(hands) == [2, 4]


def test_a_suspended_one_waits_and_a_deadline_forgets_what_was_missed():
    hands = Hands(cron_job(suspend=True, startingDeadlineSeconds=10))
    hands.run(150)
    assert jobs(hands) == []
    hands.patch("CronJob", {"spec": {"suspend": False}})
    hands.run(20)
    assert jobs(hands) == []
    hands.run(20)
    assert jobs(hands) == [3]


def test_without_a_deadline_the_latest_missed_moment_is_made_up_for():
    hands = Hands(cron_job(suspend=True))
    hands.run(150)
    hands.patch("CronJob", {"spec": {"suspend": False}})
    hands.run(5)
    assert jobs(hands) == [2]


def test_another_schedule_makes_up_for_nothing():
    hands = Hands(cron_job("0 0 1 1 *"))
    hands.run(3000)
    hands.patch("CronJob", {"spec": {"schedule": "30 * * * *"}})
    hands.run(100)
    assert jobs(hands) == []


@pytest.mark.parametrize(("phase", "kept"), [("Succeeded", 3), ("Failed", 1)])
def test_only_so_many_ended_jobs_are_kept(phase, kept):
    hands = Hands(cron_job(job={"backoffLimit": 0}))
    for _ in range(6):
        hands.run(57)
        finish(hands, phase)
    assert len([one for one in hands.list("Job") if one["status"].get("conditions")]) == kept


def test_a_world_in_which_only_schedules_wait_is_idle():
    hands = Hands(cron_job())
    hands.run(1)
    assert hands.sim.idle


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"schedule": "nonsense"}, "expected exactly 5 fields, found 1: [nonsense]"),
        ({"schedule": "TZ=UTC 0 * * * *"}, "cannot use TZ or CRON_TZ in schedule"),
        ({"timeZone": "Mars/Base"}, "unknown time zone Mars/Base"),
        ({"concurrencyPolicy": "Maybe"}, 'supported values: "Allow", "Forbid", "Replace"'),
        ({"startingDeadlineSeconds": -1}, "must be greater than or equal to 0"),
    ],
)
def test_a_schedule_that_cannot_be_read_is_refused(spec, message):
    with pytest.raises(Refused, match=r"Invalid value|Unsupported value") as refused:
        Hands().create(cron_job(**spec))
    assert message in refused.value.answer.message


def test_an_ended_job_goes_with_its_pods_when_its_time_is_over():
    hands = Hands(cron_job(job={"ttlSecondsAfterFinished": 30}))
    hands.sim.apply(SetSettings({"cluster": {"controllers": ["cronjob-controller", *TTL]}}))
    hands.run(62)
    hands.patch("CronJob", {"spec": {"suspend": True}})
    finish(hands)
    hands.run(25)
    assert jobs(hands) == [1]
    hands.run(10)
    assert jobs(hands) == []
    assert hands.pods() == []
