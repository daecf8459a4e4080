"""PodSecurity: labels of a namespace set a level for its pods; a pod that violates the enforced level is refused.

pod_security.json has kube's checks in kube's order, and the values that they allow. DEVIATION: profiles in annotations (AppArmor before
kube 1.30, seccomp under levels before v1.19) are not checked.

kube: k8s.io/pod-security-admission (policy, api, admission) @ v0.34.2, v0.35.4, v0.37.2
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request, Spec
from scheduler_core.apiserver.store import Store
from scheduler_core.base.releases import minor_of

LABEL = "pod-security.kubernetes.io/"
PRIVILEGED, BASELINE, RESTRICTED = LEVELS = ("privileged", "baseline", "restricted")
ENFORCE, WARN, LATEST = "enforce", "warn", "latest"
_TABLES = json.loads(Path(__file__).with_suffix(".json").read_text())
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")


class Rules(NamedTuple):
    """A pod's spec under the rules of a minor version."""

    spec: Spec
    minor: int

    def containers(self) -> Iterator[Spec]:
        """Yield all containers, in kube's order."""
        for name in CONTAINER_LISTS:
            yield from self.spec.get(name) or ()

    def excuses(self, what: str) -> bool:
        """Return whether a check does not apply: to pods on Windows, or in a user namespace of their own."""
        if what == "windows":
            return self.minor >= 25 and (self.spec.get("os") or {}).get("name") == "windows"
        return what == "users" and self.minor >= 35 and self.spec.get("hostUsers") is False

    def allows(self, table: str, name: str) -> bool:
        """Return whether a table allows a value in this version."""
        return any(name in names.split() for since, names in _TABLES[table].items() if int(since) <= self.minor)


class Check(NamedTuple):
    """One check, of each container (`of` ""), of the security contexts of pod and containers ("all"), or of the spec ("spec").

    `text` follows the names in kube's message. A context must set `field`, as described in `must`. `instead`: the check that this one
    replaces. `mend`: fields with which a security context passes.
    """

    name: str
    reason: str
    text: str = ""
    level: str = BASELINE
    since: int = 0
    of: str = ""
    field: str = ""
    must: str = ""
    excused: str = ""
    instead: str = ""
    mend: Mapping[str, Any] = {}

    def find(self, rules: Rules) -> str | None:
        """Return the details of a pod's violation, as kube prints them, or None."""
        values = _VALUES[self.name]
        if rules.excuses(self.excused) or self.of == "spec":
            return None if rules.excuses(self.excused) else next(iter(values(rules.spec, rules)), None)
        read = _read_context if self.of else dict
        own = {str(each) for each in values(_read_context(rules.spec), rules)} if self.of else set()
        found = {each["name"]: {str(value) for value in values(read(each), rules)} for each in rules.containers()}
        bad = [name for name, wrong in found.items() if wrong]
        if own or bad:
            wrong = sorted(own.union(*found.values()))
            setters = " and ".join([*(["pod"] if own else []), *([_count("container", bad)] if bad else [])])
            forms = {"quoted": _quote(wrong), "plain": ", ".join(wrong), "parts": "; ".join(wrong)}
            plural = {"use": "uses" if len(bad) == 1 else "use", "s": "" if len(wrong) == 1 else "s"}
            return f"{setters} {self.text.format(**forms, **plural)}"
        if not self.field or _read_context(rules.spec).get(self.field) is not None:
            return None
        bare = [each["name"] for each in rules.containers() if _read_context(each).get(self.field) is None]
        return f"pod or {_count('container', bare)} must set securityContext.{self.must}" if bare else None


def _read_context(holder: Spec) -> dict[str, Any]:
    return dict(holder.get("securityContext") or {})


def _count(word: str, names: list[str]) -> str:
    return f"{word if len(names) == 1 else word + 's'} {_quote(names)}"


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _dig(holder: Spec | None, *path: str) -> Any:
    for name in path:
        holder = (holder or {}).get(name)
    return holder


def _list_hosts(container: Spec, rules: Rules) -> Iterator[str]:
    handlers = [container.get(f"{kind}Probe") for kind in ("liveness", "readiness", "startup")]
    handlers += [_dig(container, "lifecycle", hook) for hook in ("postStart", "preStop")]
    for handler in handlers:
        yield from filter(None, (_dig(handler, how, "host") for how in ("httpGet", "tcpSocket")))


def _list_profiles(field: str) -> Values:
    def values(context: Spec, rules: Rules) -> list[str]:
        kind = _dig(context, field, "type") or ""
        return [] if context.get(field) is None or kind in ("RuntimeDefault", "Localhost") else [kind]

    return values


def _list_selinux(context: Spec, rules: Rules) -> Iterator[str]:
    options = context.get("seLinuxOptions") or {}
    if options.get("type") and not rules.allows("selinux", options["type"]):
        yield f'type "{options["type"]}"'
    yield from (f"{field} may not be set" for field in ("user", "role") if options.get(field))


def _list_capabilities(spec: Spec, rules: Rules) -> Iterator[str]:
    """Yield the detail about capabilities that must be dropped, and about those that must not be added."""
    own = {each["name"]: _read_context(each).get("capabilities") or {} for each in rules.containers()}
    kept = [name for name, each in own.items() if "ALL" not in (each.get("drop") or ())]
    added = {name: set(each.get("add") or ()) - {"NET_BIND_SERVICE"} for name, each in own.items()}
    details = [f'{_count("container", kept)} must set securityContext.capabilities.drop=["ALL"]'] if kept else []
    if adding := [name for name, wrong in added.items() if wrong]:
        text = f"must not include {_quote(sorted(set().union(*added.values())))} in securityContext.capabilities.add"
        details.append(f"{_count('container', adding)} {text}")
    yield from ["; ".join(details)] if details else []


def _list_volumes(spec: Spec, rules: Rules) -> Iterator[str]:
    kinds = {each["name"]: sorted(set(each) - {"name"}) for each in spec.get("volumes") or ()}
    bad = {name: kind[0] for name, kind in kinds.items() if kind and kind[0] not in _TABLES["volumes"].split()}
    if bad:
        types = _count("restricted volume type", sorted(set(bad.values())))
        yield f"{_count('volume', list(bad))} {'uses' if len(bad) == 1 else 'use'} {types}"


def _list_texts(texts: Iterable[str]) -> list[str]:
    found = ", ".join(texts)
    return [found] if found else []


Values = Callable[[Spec, Rules], Iterable[Any]]
"""The violations of a container or a security context; of a spec, the detail."""
_VALUES: dict[str, Values] = {
    "appArmorProfile": _list_profiles("appArmorProfile"),
    "capabilities_baseline": lambda c, _: (
        set(_dig(c, "securityContext", "capabilities", "add") or ()) - set(_TABLES["capabilities"].split())
    ),
    "hostNamespaces": lambda s, _: _list_texts(f"{f}=true" for f in ("hostNetwork", "hostPID", "hostIPC") if s.get(f)),
    "hostPathVolumes": lambda s, _: (
        [_count("volume", paths)] if (paths := [v["name"] for v in s.get("volumes") or () if "hostPath" in v]) else []
    ),
    "hostPorts": lambda c, _: [port["hostPort"] for port in c.get("ports") or () if port.get("hostPort")],
    "hostProbesAndHostLifecycle": _list_hosts,
    "privileged": lambda c, _: filter(None, [_dig(c, "securityContext", "privileged")]),
    "procMount": lambda c, _: {_dig(c, "securityContext", "procMount")} - {None, "Default"},
    "seLinuxOptions": _list_selinux,
    "seccompProfile_baseline": _list_profiles("seccompProfile"),
    "sysctls": lambda s, rules: _list_texts(
        each["name"] for each in _read_context(s).get("sysctls") or () if not rules.allows("sysctls", each["name"])
    ),
    "windowsHostProcess": lambda c, _: filter(None, [_dig(c, "windowsOptions", "hostProcess")]),
    "allowPrivilegeEscalation": lambda c, _: {_dig(c, "securityContext", "allowPrivilegeEscalation")} - {False},
    "capabilities_restricted": _list_capabilities,
    "restrictedVolumes": _list_volumes,
    "runAsNonRoot": lambda c, _: {c.get("runAsNonRoot")} & {False},
    "runAsUser": lambda c, _: {str(c.get("runAsUser"))} & {"0"},
}
_VALUES |= {
    f"{name}_restricted": _VALUES[of]
    for name, of in (("procMount",) * 2, ("seccompProfile", "seccompProfile_baseline"))
}
CHECKS = tuple(Check(**row) for row in _TABLES["checks"])


def list_violations(spec: Spec, level: str, minor: int = 99) -> dict[str, str]:
    """Return a pod's violations of a level: kube's details by kube's reasons. `minor`: of the rules, by default the newest."""
    rules = Rules(spec, minor)
    checks = [each for each in CHECKS if each.since <= minor and level in (RESTRICTED, each.level)]
    replaced = {each.instead for each in checks}
    found = ((each.reason, each.find(rules)) for each in checks if each.name not in replaced)
    return {reason: detail for reason, detail in found if detail is not None}


def describe_violations(store: Store, release: str, pod: Manifest, mode: str = ENFORCE) -> str:
    """Return kube's text for a pod's violations of the level that its namespace's labels set for a mode, or ""."""
    namespace = store.get("Namespace", "", pod["metadata"]["namespace"]) or {"metadata": {}}
    labels = namespace["metadata"].get("labels") or {}
    level, version = labels.get(LABEL + mode, PRIVILEGED), labels.get(f"{LABEL}{mode}-version", LATEST)
    if level not in LEVELS:  # kube: an unreadable level is the strictest one for enforce, and none for the other modes
        level = RESTRICTED if mode == ENFORCE else PRIVILEGED
    version = version if _VERSION.fullmatch(version) else LATEST
    if level == PRIVILEGED:
        return ""
    newest = minor_of(release)
    minor = newest if version == LATEST else min(newest, int(version[3:]))
    found = list_violations(pod["spec"], level, minor)
    details = ", ".join(f"{reason} ({detail})" for reason, detail in found.items())
    return f'PodSecurity "{level}:{version}": {details}' if found else ""


class PodSecurity(AdmissionPlugin):
    name = "PodSecurity"
    pods_by_spec = True

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not request.writes_pod:
            return
        status = manifest.get("status") or {}
        if request.imported and (status.get("phase") != "Pending" or status.get("conditions")):
            return  # an existing pod may be older than the label
        if request.old is not None and _list_images(request.old) == _list_images(manifest):
            return
        if broken := describe_violations(request.store, request.release, manifest):
            raise request.refuse(f"violates {broken}")


def _list_images(pod: Manifest) -> list[Any]:
    return [[each.get("image") for each in pod["spec"].get(name) or ()] for name in CONTAINER_LISTS]
