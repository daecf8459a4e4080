"""A world in the midst of rollouts goes on as it would have, once it was forked, or written and read."""

from scheduler_core.world.commands import ApplyObjects, PatchObject, Ref, SetPrograms, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.controllers.workloads.hands import SECOND, workload
from tests.scheduler_core.controllers.workloads.test_cron_jobs import cron_job
from tests.scheduler_core.controllers.workloads.test_daemonsets import node
from tests.scheduler_core.controllers.workloads.test_jobs import job
from tests.scheduler_core.world.checkpoint.rich import again

V2 = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
KINDS = ("Deployment", "StatefulSet", "DaemonSet")
STOPS = (2, 11, 12, 21, 43, 64, 70)


def begun():
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {}}))
    sim.apply(ApplyObjects((node("n1"), node("n2"))))
    others = [{**manifest, "metadata": {**manifest["metadata"], "name": "j"}} for manifest in (job(), cron_job())]
    named = []
    for kind in KINDS:
        labels = {"app": kind.lower()}
        manifest = workload(kind, selector={"matchLabels": labels}, **({} if kind == "DaemonSet" else {"replicas": 3}))
        manifest["spec"]["template"]["metadata"]["labels"] = labels
        named.append(manifest)
    sim.apply(SetPrograms(({"pods": "job-name=j", "runs": [{"for": "5s", "exit": 1}]},)))
    sim.apply(ApplyObjects((*named, *others)))
    return sim


def go_on(sim, until):
    while sim.due(until * SECOND):
        sim.advance()
    if until == STOPS[1]:
        for kind in KINDS:
            sim.apply(PatchObject(Ref(kind, "default", "a"), V2))


def kept(sim):
    return {kind: sim.store.list(kind) for kind in sim.store.kinds()}, sim.store.events, sim.position


def test_it_comes_to_the_same_end():
    plain, forked, reread = begun(), begun(), begun()
    for until in STOPS:
        go_on(plain, until)
        go_on(forked, until)
        go_on(reread, until)
        forked, reread = forked.fork(), again(reread)
        assert kept(forked) == kept(plain)
        assert kept(reread) == kept(plain)
    assert plain.surroundings.workloads.jobs
    assert plain.surroundings.workloads.schedules
    assert len(plain.store.list("ControllerRevision")) == 4
