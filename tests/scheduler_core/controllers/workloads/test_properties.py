"""Whatever is done to them, workloads come to what is wanted; no pod has two owners, a rolling update keeps its bounds, a Job ends."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.ownership import controller_of
from scheduler_core.controllers.workloads.deployments import bounds
from scheduler_core.controllers.workloads.jobs.finish import is_finished
from tests.scheduler_core.controllers.workloads.hands import NAMES, Hands, workload
from tests.scheduler_core.controllers.workloads.test_jobs import job

NUMBERS = st.integers(0, 6)
BOUNDS = st.sampled_from([0, 1, 3, "25%", "60%", "100%"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("scale"), NUMBERS),
        st.tuples(st.just("template"), st.integers(1, 3)),
        st.tuples(st.just("delete"), NUMBERS),
        st.tuples(st.just("relabel"), NUMBERS),
        st.tuples(st.just("fail"), NUMBERS),
        st.tuples(st.just("ready"), st.just(0)),
    ),
    max_size=6,
)


def do(hands, kind, step):
    what, number = step
    pods = hands.pods()
    if what == "scale":
        hands.patch(kind, {"spec": {"replicas": number}})
    elif what == "template":
        hands.patch(kind, {"spec": {"template": {"metadata": {"annotations": {"v": str(number)}}}}})
    elif what == "ready":
        hands.ready_all()
    elif pods and what == "delete":
        hands.delete("Pod", pods[number % len(pods)].name)
    elif pods and what == "relabel" and kind != "StatefulSet":  # whose name would stay taken
        hands.patch("Pod", {"metadata": {"labels": {"app": "other"}}}, pods[number % len(pods)].name)
    elif pods:
        hands.set_status(pods[number % len(pods)].name, "Failed", ready=False)
    hands.run()


def owned(hands):
    """Pods that are somebody's and have not ended."""
    for pod in hands.store.pods():
        owners = [ref for ref in pod.manifest["metadata"].get("ownerReferences") or () if ref.get("controller")]
        assert len(owners) <= 1
    return [pod for pod in hands.pods() if controller_of(pod.manifest) and not pod.terminal]


@settings(max_examples=25)
@given(kind=st.sampled_from(["Deployment", "ReplicaSet", "StatefulSet"]), first=NUMBERS, steps=STEPS)
def test_workloads_come_to_what_is_wanted(kind, first, steps):
    hands = Hands(workload(kind, replicas=first))
    for step in steps:
        do(hands, kind, step)
        owned(hands)
    hands.settle(60)
    wanted = hands.get(kind)["spec"]["replicas"]
    pods = owned(hands)
    assert len(pods) == wanted
    if kind != "ReplicaSet":
        notes = hands.get(kind)["spec"]["template"]["metadata"].get("annotations") or {}
        assert all(pod.annotations.get("v") == notes.get("v") for pod in pods)


@settings(max_examples=25)
@given(replicas=st.integers(1, 8), surge=BOUNDS, unavailable=BOUNDS, updates=st.integers(1, 2))
def test_a_rolling_update_keeps_its_bounds(replicas, surge, unavailable, updates):
    assume(surge != 0 or unavailable != 0)
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    hands = Hands(workload("Deployment", replicas=replicas, strategy=strategy))
    hands.settle()
    spec = hands.get("Deployment")["spec"]
    most = replicas + bounds.max_surge(spec)
    least = replicas - bounds.max_unavailable(spec)
    for number in range(updates):
        do(hands, "Deployment", ("template", number + 1))
        for _ in range(40):
            while hands.sim.due(hands.sim.now + 10**9):
                hands.sim.advance()
                pods = hands.pods()
                assert len(pods) <= most
                ready = sum(bool(pod.condition("Ready")) for pod in pods)
                assert ready >= least
            hands.sim.agenda.now += 10**9
            pending = [pod for pod in hands.pods() if pod.phase == "Pending"]
            if not pending:
                break
            hands.set_status(pending[0].name)
    hands.settle(60)
    assert len(hands.pods()) == replicas


@settings(max_examples=25)
@given(
    completions=st.integers(1, 4),
    parallelism=st.integers(1, 3),
    indexed=st.booleans(),
    per_index=st.booleans(),
    waits=st.booleans(),
    outcomes=st.lists(st.sampled_from(["Succeeded", "Failed", "delete"]), max_size=12),
)
def test_a_job_ends_and_counts_each_pod_once(completions, parallelism, indexed, per_index, waits, outcomes):
    spec = {"completions": completions, "parallelism": parallelism}
    if indexed:
        spec |= {"completionMode": "Indexed", **({"backoffLimitPerIndex": 1} if per_index else {})}
    if waits:
        spec["podReplacementPolicy"] = "Failed"
    # pods that are deleted before they are bound are ended by the collector
    hands = Hands(job(**spec), controllers=[*NAMES, "pod-garbage-collector-controller"])
    hands.run(2)
    outcomes = [*outcomes, *["Succeeded"] * 40]
    for _ in range(80):
        if is_finished(hands.get("Job")):
            break
        alive = [pod for pod in hands.pods() if not pod.terminal]
        assert len(alive) <= parallelism
        if not alive:
            hands.run(60)  # the longest pause after so few failures is 600 s
            continue
        outcome = outcomes.pop(0)
        if outcome == "delete":
            hands.delete("Pod", alive[0].name)
        else:
            hands.set_status(alive[0].name, outcome, ready=False)
        hands.run(3)
    hands.run(3)
    status = hands.get("Job")["status"]
    pods = hands.store.pods()
    assert not any("finalizers" in pod.manifest["metadata"] for pod in pods)
    assert "active" not in status
    ended = [pod for pod in pods if pod.phase == "Succeeded"]
    if is_finished(hands.get("Job"))["type"] == "Complete":
        assert status["succeeded"] == len(ended) == completions
    else:
        assert status["failed"] >= 1
        assert (indexed and per_index) or status["failed"] > 6
