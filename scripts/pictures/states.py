"""The states of the screen that are shown: each is a world of its own at a telling step, and what somebody has opened there.

A function makes its world and moves it from state to state: what it yields is seen before it goes on, so that it is the newest step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playwright.sync_api import Page

from scripts.pictures import teaching, terminal, worlds
from scripts.pictures.session import Session

Act = Callable[[Page], None]
Begin = Callable[..., Session]


@dataclass(frozen=True)
class State:
    """Where a state is seen, and what is done there."""

    name: str
    url: str
    act: Act = lambda _page: None


def shop(begin: Begin) -> Iterator[State]:
    """Twelve nodes and the pods of a shop, while one of its pods is scheduled."""
    session = begin(name="Shop cluster")
    session.apply(*worlds.shop())
    session.apply(worlds.failing())
    session.post("calls", pod="default/db-3", call="bind", code="409", times="1")
    session.until(kind="queue_moved", pod="db-3", to="backoff")
    session.apply(*worlds.waiting())
    session.until(kind="queue_moved", pod="train-2", to="unschedulable")
    session.apply(*worlds.coming())
    session.until(kind="attempt_started", pod="api-4")
    yield State("queue", session.at())
    session.until(point="Filter", plugin="InterPodAffinity", pod="api-4")
    filtering = session.at(node="node-c1")
    yield State("filter", filtering)
    yield State("palette", filtering, _palette)
    session.until(kind="node_selected", pod="api-4")
    yield State("score", session.at(node="node-b1", plugin="NodeResourcesFit"))
    yield State("presenter", session.at(), _press("p"))


def preemption(begin: Begin) -> Iterator[State]:
    """Four nodes that could make room for an urgent pod."""
    session = begin(name="An urgent pod")
    session.apply(*worlds.contested())
    session.until(point="PostFilter", plugin="DefaultPreemption", pod="urgent")
    yield State("preemption", session.at())
    yield State("ladder", session.at(form="table"))


def openb(begin: Begin) -> Iterator[State]:
    """Filter in a real cluster of 1,523 nodes, after 1,200 pods."""
    session = begin(name="openb")
    session.apply(*worlds.openb(1200))
    session.until(kind="attempt_started", pod="openb-pod-1199")
    session.until(point="Filter", plugin="NodeResourcesFit")
    yield State("openb", session.at())


def binding(begin: Begin) -> Iterator[State]:
    """Binding cycles side by side, two of a gang waiting on Permit; then one is refused and goes back through Unreserve."""
    session = begin(name="A gang of three")
    session.configure(worlds.GANGS)
    session.apply(*worlds.bindings())
    session.post("calls", pod="default/api-9", call="bind", code="409", times="1")
    session.post("calls", pod="default/db-3", call="bind", code="0", latency="2s", times="1")
    session.until(point="Reserve", pod="api-4")
    yield State("binding", session.at())
    session.post("permit", pod="default/gang-0", decision="reject")
    session.until(kind="binding_ended", pod="gang-0")
    yield State("refused", session.at())


def gang(begin: Begin) -> Iterator[State]:
    """A group of five pods whose placements, one rack each, were tried side by side."""
    session = begin(name="A rack for a group")
    session.post("gates", gates="GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
    session.apply(*worlds.racks())
    session.until(kind="binding_started", pod="train-4")
    yield State("gang", session.at(stage="group"))


def controller(begin: Begin) -> Iterator[State]:
    """A Deployment's pods are replaced by those of its next version."""
    session = begin(name="A rollout")
    session.apply(*worlds.rollout(1))
    session.run()
    session.apply(*worlds.rollout(2))
    session.until(3, kind="reconciled")
    yield State("controller", session.at())


def large(begin: Begin) -> Iterator[State]:
    """Five thousand nodes, of which five hundred feasible ones are enough; many of them tie."""
    session = begin(name="Five thousand nodes")
    session.apply(*worlds.large())
    session.until(kind="attempt_ended", pod="etl-2000")
    session.until(point="Filter", plugin="NodeResourcesFit")
    while "so far" in session.get("panel/stage"):
        session.until(point="Filter", plugin="NodeResourcesFit")
    yield State("large", session.at(q="rack=c06"))
    session.until(kind="node_selected")
    yield State("ties", session.at())


def lockstep(begin: Begin) -> Iterator[State]:
    """The shop beside the same one whose scheduler packs, where the two part."""
    session = begin(name="Spread out")
    session.apply(*worlds.shop(), worlds.api("api-4"), worlds.pod("web-5", "1", "2Gi"))
    packed = session.fork("Packed tightly")
    packed.configure(worlds.PACKED)
    steps = [one.until(kind="node_selected", pod="api-4") for one in (session, packed)]
    for one in (session, packed):
        one.run()
    yield State("lockstep", session.at("lockstep", **{"with": packed.url}, at=steps[0], b=steps[1]))


def story(begin: Begin) -> Iterator[State]:
    """A lesson, where it says why a pod is pending."""
    session = begin("story:taints")
    session.until(kind="attempt_ended", pod="api")
    yield State("story", session.at())


def busy(begin: Begin) -> Iterator[State]:
    """A small cluster where one pod has no room, another's binding fails, and a larger node comes; then the same without that node."""
    session = begin(name="A larger node")
    session.apply(*worlds.crowded())
    session.post("calls", pod="default/web-3", call="bind", code="409", times="1")
    session.until(kind="binding_started", pod="web-3")
    session.apply(worlds.node("large-a", "16"))
    asked = session.step_of(kind="command")
    session.until(kind="queue_moved", pod="web-3", to="backoff")
    yield State("journey", session.at("journey/default/web-3"))
    yield State("internals", session.at(pod="default/web-3", tab="journey"), _internals)
    session.run()
    without = session.without(asked - 1)  # the step before it
    yield State("commands", without.at("commands"))
    yield State("compare", without.at("compare", **{"with": session.url}))
    yield State("exports", session.at("exports"))


def door(begin: Begin) -> Iterator[State]:
    """kubectl creates a Deployment in a session, beside the studio that shows its pods."""
    session = begin("cluster:zones", "A session for kubectl", live="1", kubelet="runs")
    text = terminal.record(
        session,
        (
            "kubectl get nodes",
            "kubectl create deployment api --image=nginx --replicas=3",
            "kubectl rollout status deployment/api",
            "kubectl get pods -l app=api -o custom-columns=POD:.metadata.name,NODE:.spec.nodeName",
            "kubectl cordon worker-zone-b",
            "kubectl scale deployment api --replicas=5",
            "kubectl rollout status deployment/api",
            "kubectl get deployment,replicaset",
        ),
    )
    yield State("door", session.at(), terminal.beside(text))


def _press(key: str) -> Act:
    return lambda page: page.keyboard.press(key)


def _palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("node-c")
    page.locator("#palette [role=option]").nth(1).wait_for()


def _internals(page: Page) -> None:
    page.locator("#internals > summary").click()
    page.locator(".state-keys, #cycle-state").first.wait_for()


def authoring(begin: Begin) -> Iterator[State]:
    """A lesson is made of three nodes and four pods: two cards more than the first, one question."""
    session = begin("cluster:small")
    made = session.post("make-lesson")
    yield State("authoring", made.url, _cards)


def lesson(begin: Begin) -> Iterator[State]:
    """A lesson's first card, answered."""
    yield State("lesson", begin("story:taints").at(), teaching.answer)


def classroom(begin: Begin) -> Iterator[State]:
    """A teacher's desk beside the lesson it was opened from."""
    yield State("classroom", begin("story:first-placement").at(), teaching.reveal)


def _cards(page: Page) -> None:
    page.get_by_label("Description, in one sentence").fill(
        "Each pod gets a node of its own, as long as there are some."
    )
    page.locator("select[data-saves]").first.select_option(index=2)
    page.locator(".asking").first.wait_for()
    for number in (2, 3):
        page.locator(".moments button").nth(number).click()
        page.locator(".lesson-card").nth(number - 1).wait_for()
    page.evaluate("scrollTo(0, 0)")


MAIN: dict[Callable[[Begin], Iterator[State]], tuple[str, ...]] = {
    shop: ("queue", "filter", "palette", "score", "presenter"),
    openb: ("openb",),
    preemption: ("preemption", "ladder"),
    binding: ("binding", "refused"),
    gang: ("gang",),
    controller: ("controller",),
    large: ("large", "ties"),
    lockstep: ("lockstep",),
    story: ("story",),
}
MORE: dict[Callable[[Begin], Iterator[State]], tuple[str, ...]] = {
    busy: ("journey", "internals", "commands", "compare", "exports"),
    authoring: ("authoring",),
    door: ("door",),
    lesson: ("lesson",),
    classroom: ("classroom",),
}
