"""The answers of `python manage.py explain` about pods, and their output."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from playground.features.fixes.presenter import describe_findings
from playground.features.fixes.presenter import sentence as sentence_of
from playground.presenters.why import describe_fact, sentence
from playground.presenters.words import Message, amount, beside, duration
from playground.presenters.words import format_message as in_words
from scheduler_core.analysis.explain import STICKING, Explanation, Past, Role, State, explain, list_problems
from scheduler_core.analysis.fixes import Budget, Findings, Fix, search_fixes
from scheduler_core.analysis.whatif import Subject, finish, owners_of, subject_of
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.simulation import Simulation

# The answers as data: one for each pod, in the format of docs/explain.md.

Answer = dict[str, Any]
Report = Callable[[str], None]
SECONDS = 3.0  # CPU time that the search for a pod's fixes may take
LONGER = "Some changes need more virtual time to be proven: --longer runs them."
_ENDED = (State.REFUSED.value, State.FAILED.value)
_PLACED = (State.SCHEDULED.value, State.NOT_RUNNING.value, State.TERMINATING.value, State.GONE.value, State.STUCK.value)
_UNMADE = (State.QUOTA_EXCEEDED.value, State.NOT_CREATED.value)


def answer(world: Simulation, key: str, past: Past | None = None) -> Answer | None:
    """Return the answer about one pod, still without fixes, or None. `past`: see explain."""
    explanation = explain(world, key, past)
    return None if explanation is None else build_answer(explanation)


def problems(world: Simulation, keys: Iterable[str], past: Past) -> Iterator[Answer]:
    """Yield an answer about each of the pods, and about everything else that is not as its owner wants it."""
    seen: set[str] = set()
    for key in keys:
        if (one := explain(world, key, past)) is not None:
            seen.add(one.pod)
            yield build_answer(one)
    for each in list_problems(world, past):
        if each.pod not in seen:
            seen.add(each.pod)
            yield build_answer(each)


def answers_about(world: Simulation, key: str, past: Past) -> Iterator[Answer]:
    """Yield the answer about a pod NS/NAME, a node Node/NAME, or a workload KIND/NS/NAME, and the problems of the workload's pods."""
    one = explain(world, key, past)
    if one is not None:
        yield build_answer(one)
    if key.count("/") == 1:
        return
    kind, namespace, name = key.split("/")
    pods = list_pods(world, (kind, namespace, name))
    mine = [
        each
        for each in problems(world, (), past)
        if each["pod"] in pods or _is_missing_of(world, each, (kind, namespace, name))
    ]
    yield from mine
    if one is None and not mine:
        yield from (build_answer(each) for pod in pods if (each := explain(world, pod, past)) is not None)


def _is_missing_of(world: Simulation, answered: Answer, workload: Subject) -> bool:
    """Return True if the answer is about pods that a workload, or what it controls, lacks."""
    owner = answered["reasons"][0]["evidence"].get("owner") if answered["reasons"] else None
    if not isinstance(owner, Mapping):
        return False
    namespace = str(answered["pod"]).partition("/")[0]
    return workload in owners_of(world.store, (str(owner["kind"]), namespace, str(owner["name"])))


def find_pods(world: Simulation, keys: Iterable[str]) -> set[str]:
    """Return the named pods, NS/NAME, and those of the named workloads, KIND/NS/NAME."""
    found = set()
    for key in keys:
        kind, _, rest = key.partition("/")
        found |= {key} if "/" not in rest else set(list_pods(world, (kind, *rest.split("/", 1))))  # type: ignore[arg-type]
    return found


def list_pods(world: Simulation, workload: Subject) -> list[str]:
    """Return the pods of a workload, and of the objects that it controls."""
    return [
        pod.key
        for pod in world.store.pods()
        if pod.namespace == workload[1] and workload in owners_of(world.store, subject_of(pod))
    ]


def group_alike(world: Simulation, answers: Iterable[Answer]) -> Iterator[list[Answer]]:
    """Yield the answers about pods of one owner that differ in nothing but the pod's name together."""
    alike: dict[tuple[Subject, str], list[Answer]] = {}
    for each in answers:
        pod = world.store.pod_at(each["pod"])
        name = str(each["pod"]).rpartition("/")[2]
        subject = ("", "", str(each["pod"])) if pod is None else subject_of(pod)
        alike.setdefault((subject, each["sentence"].replace(name, "*")), []).append(each)
    yield from alike.values()


def with_fixes(
    world: Simulation,
    answered: Answer,
    seconds: float,
    report: Report = lambda text: None,
    refused: Manifest | None = None,
    *,
    longer: bool = False,
) -> Answer:
    """Return the answer with fixes. `report` gets each proven fix; "late": the search timed out; `refused`: a refused pod's manifest.

    `longer`: proofs may take hours of the controllers' time; "cut" counts those that were stopped without a result.
    """
    deadline, late = time.process_time() + seconds, False

    def should_stop() -> bool:
        nonlocal late
        late = late or time.process_time() > deadline
        return late

    def found(fix: Fix) -> None:
        report("; ".join(plain(sentence_of(change.to_json())) for change in fix.changes))

    budget = Budget().lengthen() if longer else Budget()
    findings = finish(search_fixes(world, answered["pod"], budget, should_stop, found, refused))
    return {**answered, "fixes": _fixes(findings), "late": late, "cut": findings.cut}


def build_answer(explanation: Explanation) -> Answer:
    state = State.SCHEDULED if explanation.state is State.BINDING else explanation.state
    said = {"state": state.value, "sentence": plain(sentence(explanation))}
    texts = {
        role.value: [fact.to_json() | {"text": plain(describe_fact(fact))} for fact in explanation.list_facts(role)]
        for role in Role
    }
    first: Answer = dict.fromkeys(("pod", *said))  # the fields to read first
    rest = {"fixes": [], "late": False, "cut": 0, "problem": explanation.problem}
    return first | explanation.to_json() | said | texts | rest


def _fixes(findings: Findings) -> list[Answer]:
    return [
        {
            "kind": fix.kind,
            "text": "; ".join(plain(line) for line in said["lines"]),
            "proven": fix.proven,
            "command": fix.kubectl,
            "effects": [plain(effect) for effect in said["effects"]],
            "node": fix.node,
            "harm": fix.harm,
            "heldBack": fix.held_back,
            "disturbance": fix.disturbance,
            "warning": plain(said["warning"]) if said["warning"] else "",
            "seconds": fix.time / 1e9,
        }
        for fix, said in zip(findings.fixes, describe_findings(findings.to_json())["fixes"], strict=True)
    ]


def plain(said: Message) -> str:
    return in_words(said, gettext)


def is_pending(answered: Answer) -> bool:
    """Return True if something waits or is missing, without having ended."""
    return bool(answered["problem"]) and answered["state"] not in _ENDED


def has_ended(answered: Answer) -> bool:
    """Return True if a pod was refused by its kubelet, or failed."""
    return answered["state"] in _ENDED


def is_stuck(answered: Answer) -> bool:
    """Return True if a drain or a rollout is stuck, and not only because of a pending pod."""
    notes = {note["code"] for note in answered["notes"]}
    return answered["state"] == State.STUCK and (str(answered["pod"]).startswith("Node/") or bool(notes & STICKING))


def last_of_owners(answers: Iterable[Answer]) -> set[str]:
    """Return the last pod of each owner that ended for the same reason; a pod without an owner counts by itself."""
    last: dict[tuple[str, str, str], Answer] = {}
    for each in filter(has_ended, answers):
        evidence = each["reasons"][0]["evidence"] if each["reasons"] else {}
        namespace, _, name = str(each["pod"]).partition("/")
        key = (namespace, str(evidence.get("owner") or name), str(each["reason"]))
        if key not in last or last[key]["predecessors"] <= each["predecessors"]:
            last[key] = each
    return {each["pod"] for each in last.values()}


# The answers as text: the sentence, the reasons with nodes and evidence, and fixes.

NAMED = 5
Style = Callable[[str], str]


def lines(answered: Mapping[str, Any], strong: Style, faint: Style) -> Iterator[str]:
    """Yield the lines that explain one pod's state."""
    yield f"{strong(answered['pod'])}  {answered['state']}"
    yield f"  {answered['sentence']}"
    if answered["reasons"]:
        yield ""
    for reason in answered["reasons"]:
        yield f"  {reason['code']}{_nodes(reason)}"
        yield f"    {faint(reason['message'])}"
        yield from (f"    {line}" for line in _evidence(reason["evidence"]))
    yield from (f"  {fact['text']}" for role in Role for fact in answered[role.value])
    yield from (f"  {line}" for line in _waits(answered))


def fix_lines(answered: Mapping[str, Any], faint: Style, *, whole: bool) -> Iterator[str]:
    """Yield the lines of the fixes; their commands in full at the left margin (`whole`), so they can be copied, or shortened."""
    if answered["fixes"]:
        yield ""
        yield "  What would help, each tried on a copy:"
    for number, fix in enumerate(answered["fixes"], 1):
        yield f"    {number}. {fix['text']}  {faint('(' + fix['kind'] + ')')}"
        if whole:
            yield from ("", *fix["command"].splitlines(), "")
        else:
            yield from (f"       {faint(line)}" for line in _command(fix["command"]))
        unproven = "" if fix["proven"] else "not proven: this is done outside the API server"
        yield from (f"       {each}" for each in (unproven, fix["warning"], *fix["effects"]) if each)
        if fix["heldBack"]:
            yield f"       other pods that wait took no part in the trial: {fix['heldBack']}"
    if answered["cut"] and not answered["fixes"]:
        yield f"  {faint(LONGER)}"
    if answered["late"]:
        yield f"  {faint('There may be more: the time for the search was over; --seconds gives it longer.')}"


def _command(text: str) -> list[str]:
    """Return the command, shortened to its first line if it has a manifest; --pod, -o json and -o yaml print all of it."""
    first, *rest = text.splitlines() or [""]
    return [f"{first} ..." if rest else first] if first else []


def _nodes(reason: Mapping[str, Any]) -> str:
    count, names = reason["count"], reason["nodes"]
    if not count:
        return ""
    if reason["groups"]:
        groups = ", ".join(f"{each['count']} of {each['group']}" for each in reason["groups"])
        return f"  {format_count(count, 'node')}: {groups}"
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return f"  {format_count(count, 'node')}: {', '.join(names[:NAMED])}{more}"


def format_count(number: int, noun: str) -> str:
    """Return a count with its noun, such as 1 node or 2 nodes."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summary(answers: Iterable[Answer]) -> str:
    """Return the last line: how many pods are pending, rejected, or failed, and how many other objects are not as their owners want."""
    about = list(answers)
    failed = sum(map(has_ended, about))
    wrong = [each for each in about if is_pending(each)]
    pending = sum(each["state"] not in (*_PLACED, *_UNMADE) for each in wrong)
    others, said = len(wrong) - pending, []
    if failed:
        said.append(f"{'1 pod was' if failed == 1 else f'{failed} pods were'} refused by a kubelet, or failed.")
    if others:
        said.append(
            "1 is not as its owner wants it." if others == 1 else f"{others} are not as their owners want them."
        )
    if pending and len(about) > 1:
        said.append(f"{pending} of {len(about)} pods {'is' if pending == 1 else 'are'} Pending.")
    elif pending or not said:
        said.append("The pod is Pending." if pending else "No pod is Pending.")
    return " ".join(said)


def format_refused_error(count: int) -> str:
    """Return the error line about refused objects, which explains why an empty list of Pending pods is not good news."""
    which = "1 object with pods was" if count == 1 else f"{count} objects with pods were"
    return f"error: {which} refused, as said above, and took no part in this"


def _evidence(evidence: Mapping[str, Any]) -> Iterator[str]:
    resource = str(evidence.get("resource") or "")
    near = evidence.get("near")
    if near:
        verb = "lacks" if near["count"] == 1 else "lack"
        yield f"{format_count(near['count'], 'node')} {verb} at most {amount(resource, near['atMost'])}; the nearest:"
        for each in near["nodes"]:
            short, free, whole = beside(resource, each["short"], each["free"], each["allocatable"], places=3)
            yield f"  {each['node']} lacks {short} ({free} free of {whole})"
    elif "most" in evidence:
        yield f"the largest has {amount(resource, evidence['most'])}"
    for each in evidence.get("requirements", ()):
        values = ", ".join(f"{value['value']} ({value['nodes']})" for value in each["values"])
        has = f"; nodes have {values}" if values else f"; no node has the label {each['key']}"
        yield f"{each['text']}: {format_count(each['matching'], 'node')}{has if not each['matching'] else ''}"
    for claim in evidence.get("claims", ()):
        yield from _claim(claim) if isinstance(claim, Mapping) else ()
    for spread in evidence.get("constraints", ()):
        yield from _format_spread(spread)


def _claim(claim: Mapping[str, Any]) -> Iterator[str]:
    if not claim["exists"]:
        yield f"claim {claim['claim']}: does not exist"
        return
    of_class = claim["class"] or "none"
    there = "" if claim["classExists"] or not claim["class"] else " (does not exist)"
    mode = f", {claim['bindingMode']}" if claim["bindingMode"] else ""
    picks = f", volumes with {claim['selector']}" if claim["selector"] else ""
    yield f"claim {claim['claim']}: {claim['phase']}, class {of_class}{there}{mode}{picks}"
    for volume in claim["candidates"]:
        where = volume["affinity"] or "any node"
        taken = f", taken by {volume['claimedBy']}" if volume["claimedBy"] else ""
        mode = f", {volume['volumeMode']}" if volume["volumeMode"] != claim["volumeMode"] else ""
        yield f"  volume {volume['volume']}: {amount('memory', volume['capacity'])}{mode}, {where}{taken}"


def _format_spread(spread: Mapping[str, Any]) -> Iterator[str]:
    yield f"spread over {spread['topologyKey']}, maxSkew {spread['maxSkew']}, lowest {spread['lowest']}"
    for domain in spread["domains"]:
        closed = "" if domain["open"] else "  counts, though the pod can go to none of its nodes"
        pods, nodes = format_count(domain["pods"], "pod"), format_count(domain["nodes"], "node")
        yield f"  {domain['domain']}: {pods}, {nodes}{closed}"
    with_policies = spread.get("withPolicies")
    if with_policies:
        policies = ", ".join(f"{name}: {value}" for name, value in with_policies["set"].items())
        passing = format_count(with_policies["passing"], "node")
        yield f"  with {policies} the lowest would be {with_policies['lowest']}, and {passing} would pass"


def _waits(answered: Mapping[str, Any]) -> Iterator[str]:
    preemption = answered["preemption"]
    if preemption is not None and preemption["message"]:
        yield f"preemption: {preemption['message']}"
    if answered["events"]:
        yield f"wakes on: {', '.join(answered['events'])}"
    if answered["until"] is not None:
        when = f"at {answered['due']}" if answered["due"] else f"{duration(answered['until'])} after this snapshot"
        yield f"tried again {when} at the latest"
