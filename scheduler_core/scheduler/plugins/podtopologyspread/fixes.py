"""Fixes of spread constraints: a node labeled into a domain, a larger skew, or a soft constraint."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.labels import LabelSelector
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal, edit_at
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME, add_node, in_domain, other_keys, with_argument
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import HARD, HONOR, NAME, SOFT
from scheduler_core.scheduler.plugins.podtopologyspread.explanation import ConstraintFigures

_PLACE = "spec", "topologySpreadConstraints"
REVISION = "pod-template-hash"  # a label that tells the revisions of a Deployment apart


def propose(draft: Draft, refusal: Refusal, constraints: Sequence[ConstraintFigures]) -> Iterator[Draft]:
    raw = refusal.pod.manifest["spec"].get("topologySpreadConstraints") or []
    hard = [i for i, constraint in enumerate(raw) if constraint.get("whenUnsatisfiable") == HARD]
    for index, figures in zip(hard, constraints, strict=False):
        key, most, skew = figures.constraint.topology_key, figures.constraint.max_skew, figures.skew
        if skew is None:
            yield from in_domain(draft, refusal, key, [each.name for each in figures.domains[:1]])
        narrow = [HOSTNAME] if skew is not None and skew > most and key != HOSTNAME else []
        for kind, keys in (("topology-key", other_keys(refusal, key)), ("topology", narrow)):
            for each in keys:
                change = Change(kind, {"what": "spread", "from": key, "to": each})
                yield draft.with_pod(change, edit_at(*_PLACE, index, topologyKey=each))
        if skew is None or skew > most:
            yield from _counting_otherwise(draft, index, raw[index], key)
            yield from _this_revision(draft, index, raw[index], refusal)
        if figures.constraint.min_domains > figures.count > 0:
            values = {"key": key, "from": figures.constraint.min_domains, "to": figures.count}
            yield draft.with_pod(Change("min-domains", values), edit_at(*_PLACE, index, minDomains=figures.count))
        if skew is not None and skew > most:
            change = Change("skew", {"key": key, "from": most, "to": skew}, skew / 1000)
            yield draft.with_pod(change, edit_at(*_PLACE, index, maxSkew=skew))
        if skew is None or skew > most:
            change = Change("soften", {"what": "spread", "text": key})
            yield draft.with_pod(change, edit_at(*_PLACE, index, whenUnsatisfiable=SOFT, minDomains=None))
    if not hard and constraints:
        change = Change("configuration", {"plugin": NAME, "argument": "defaultConstraints"})
        yield with_argument(draft, refusal, change, NAME, _no_defaults)
    yield from add_node(draft, refusal)


def _no_defaults(args: dict[str, Any]) -> None:
    args.pop("defaultConstraints", None)
    args["defaultingType"] = "System"


def _counting_otherwise(draft: Draft, index: int, raw: Mapping[str, Any], key: str) -> Iterator[Draft]:
    """Propose to count only nodes that the pod can run on: a domain without such nodes keeps the minimum at 0."""
    for field, default in (("nodeTaintsPolicy", "Ignore"), ("nodeAffinityPolicy", HONOR)):
        if (raw.get(field) or default) != HONOR:
            change = Change("policy", {"key": key, "field": field, "to": HONOR})
            yield draft.with_pod(change, edit_at(*_PLACE, index, **{field: HONOR}))


def _this_revision(draft: Draft, index: int, raw: Mapping[str, Any], refusal: Refusal) -> Iterator[Draft]:
    """Propose to count only pods of the same revision if pods of another revision exist, as during a rollout."""
    pod, mine = refusal.pod, refusal.pod.labels.get(REVISION)
    keys = list(raw.get("matchLabelKeys") or ())
    if mine is None or REVISION in keys or not raw.get("labelSelector"):
        return
    selector = LabelSelector.of(raw["labelSelector"])
    if refusal.nodes.pod_table.list_classes(
        lambda each: (
            each.namespace == pod.namespace and each.labels.get(REVISION) != mine and selector.matches(each.labels)
        )
    ):
        change = Change("match-label-keys", {"key": raw.get("topologyKey") or "", "label": REVISION})
        yield draft.with_pod(change, edit_at(*_PLACE, index, matchLabelKeys=[*keys, REVISION]))
