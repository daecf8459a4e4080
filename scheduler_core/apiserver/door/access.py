"""RBAC for users that a client impersonates, and for reviews; the session's own key needs no role.

roles.json.xz has the roles and bindings that a new cluster contains.

kube: plugin/pkg/auth/authorizer/rbac, pkg/registry/rbac/validation/rule.go, apiserver/pkg/endpoints/filters @ v1.34.1
"""

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects import LabelSelector, Manifest
from scheduler_core.apiserver.door.answers import Failure
from scheduler_core.apiserver.door.resources import Target
from scheduler_core.apiserver.kinds import key_of
from scheduler_core.apiserver.store import Store

RBAC = "rbac.authorization.k8s.io"
MASTERS, AUTHENTICATED = "system:masters", "system:authenticated"
_ACCOUNT = "system:serviceaccount:"
_KINDS = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
READS = ("get", "list", "watch")


class User(NamedTuple):
    """A user with groups."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


OWNER = User("admin", (MASTERS, AUTHENTICATED), "admin")
VIEWER = User("viewer", (AUTHENTICATED,), "viewer")


class AccessRequest(NamedTuple):
    """A request in the terms of rules: by resource, or by `path`."""

    verb: str
    group: str = ""
    resource: str = ""  # with its subresource: pods/log
    namespace: str = ""
    name: str = ""
    path: str = ""


def impersonate(name: str, groups: list[str], uid: str = "") -> dict[str, str]:
    """Return the fields of a query that carry an impersonated user."""
    if name.startswith(_ACCOUNT) and not groups:
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{name.split(':')[2]}"]
    if AUTHENTICATED not in groups and name != "system:anonymous":
        groups = [*groups, AUTHENTICATED]
    return {"user": name, "groups": ",".join(groups), "uid": uid}


def user_of(query: Mapping[str, str]) -> User:
    """Return the user of a request: the key's own, or the impersonated user."""
    if "user" not in query:
        return OWNER
    if "groups" not in query:
        return VIEWER
    return User(query["user"], tuple(query["groups"].split(",")), query.get("uid", ""))


@cache
def _bootstrap() -> Mapping[str, tuple[Manifest, ...]]:
    data = json.loads(lzma.decompress(Path(__file__).with_name("roles.json.xz").read_bytes()))
    for number, each in enumerate(data):
        digest = hashlib.sha256(f"{each['kind']}/{key_of(each)}".encode()).hexdigest()
        uid = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
        each["metadata"] |= {"uid": uid, "resourceVersion": str(number + 1)}
    by_kind = {kind: tuple(each for each in data if each["kind"] == kind) for kind in _KINDS}
    for each in by_kind["ClusterRole"]:
        if "aggregationRule" in each:
            each["rules"] = list(_aggregate(each, by_kind["ClusterRole"]))
    return by_kind


def _aggregate(role: Manifest, roles: Sequence[Manifest]) -> list[Manifest]:
    """Return the rules of the roles that a role's selectors select."""
    found: list[Manifest] = []
    for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ():
        chosen = LabelSelector.of(selector)
        for each in roles:
            if each is not role and chosen.matches(each["metadata"].get("labels") or {}):
                rules = [*(each.get("rules") or ()), *_aggregate(each, roles)]
                found += [rule for rule in rules if rule not in found]
    return found


def list_roles(store: Store, kind: str) -> list[Manifest]:
    """Return the roles or bindings of a kind, including those of a new cluster, in the order of lists."""
    own = store.list(kind)
    names, made = {key_of(each) for each in own}, {"creationTimestamp": store.timestamp(0)}
    others = [
        {**each, "metadata": {**each["metadata"], **made}}
        for each in _bootstrap().get(kind, ())
        if key_of(each) not in names
    ]
    return sorted([*own, *others], key=key_of)


def _rules_of(store: Store, binding: Manifest) -> list[Manifest] | None:
    """Return the rules of a binding's role, or None if the role does not exist."""
    ref = binding["roleRef"]
    namespace = "" if ref["kind"] == "ClusterRole" else binding["metadata"].get("namespace")
    role = store.get(ref["kind"], namespace, ref["name"])
    if role is None:
        known = _bootstrap().get(ref["kind"], ())
        role = next((each for each in known if key_of(each) == (namespace, ref["name"])), None)
    if role is None:
        return None
    roles = list_roles(store, ref["kind"]) if role.get("aggregationRule") else ()
    return [*(role.get("rules") or ()), *_aggregate(role, roles)]


def _is_bound(user: User, binding: Manifest) -> str:
    """Return the subject by which a binding applies to a user, or ""."""
    for each in binding.get("subjects") or ():
        kind, name = each["kind"], each["name"]
        if kind == "ServiceAccount":
            namespace = each.get("namespace") or binding["metadata"].get("namespace") or ""
            if user.name == f"{_ACCOUNT}{namespace}:{name}":
                return f'ServiceAccount "{name}/{namespace}"'
        elif (kind == "User" and name == user.name) or (kind == "Group" and name in user.groups):
            return f'{kind} "{name}"'
    return ""


def iterate_rules(store: Store, user: User, namespace: str) -> Iterator[tuple[str, Manifest | None]]:
    """Yield each rule of a user after a text about its binding. If the binding's role does not exist, yield an error's text and None."""
    bindings = list_roles(store, "ClusterRoleBinding")
    bindings += [each for each in list_roles(store, "RoleBinding") if namespace and key_of(each)[0] == namespace]
    for binding in bindings:
        if not (subject := _is_bound(user, binding)):
            continue
        (space, name), ref = key_of(binding), binding["roleRef"]
        rules = _rules_of(store, binding)
        if rules is None:
            yield f'{ref["kind"].lower()}.rbac.authorization.k8s.io "{ref["name"]}" not found', None
        place = f"{name}/{space}" if space else name
        for rule in rules or ():
            yield f'{binding["kind"]} "{place}" of {ref["kind"]} "{ref["name"]}" to {subject}', rule


def _allows(rule: Manifest, wish: AccessRequest) -> bool:
    if not {"*", wish.verb} & set(rule.get("verbs") or ()):
        return False
    if wish.path:
        paths = rule.get("nonResourceURLs") or ()
        return any(p in ("*", wish.path) or (p.endswith("*") and wish.path.startswith(p[:-1])) for p in paths)
    resource, _, subresource = wish.resource.partition("/")
    wanted = {"*", wish.resource, f"*/{subresource}"} if subresource else {"*", resource}
    names = rule.get("resourceNames") or ()
    return (
        bool({"*", wish.group} & set(rule.get("apiGroups") or ()))
        and bool(wanted & set(rule.get("resources") or ()))
        and (not names or wish.name in names)
    )


def authorize(store: Store, user: User, wish: AccessRequest) -> tuple[bool, str]:
    """Return whether a user may make a request, and the reason."""
    if MASTERS in user.groups:
        return True, ""
    if user is VIEWER:
        return wish.verb in READS, ""
    missing = []
    for why, rule in iterate_rules(store, user, wish.namespace):
        if rule is None:
            missing.append(why)
        elif _allows(rule, wish):
            return True, f"RBAC: allowed by {why}"
    if not missing:
        return False, ""
    return False, f"RBAC: {missing[0] if len(missing) == 1 else '[' + ', '.join(missing) + ']'}"


def require(store: Store, query: Mapping[str, str], method: str, path: str, target: Target | None) -> None:
    """Raise Failure (403) if an impersonated user may not make a request."""
    user = user_of(query)
    if user in (OWNER, VIEWER):
        return
    if target is None:
        wish = AccessRequest(method.lower(), path=path)
        said, about, name = f'User "{user.name}" cannot {wish.verb} path "{path}"', "", ""
    else:
        verb = _VERBS.get(method) or {"GET": "get", "DELETE": "delete"}.get(method, "get")
        if not target.name:
            verb = {"get": "list", "delete": "deletecollection"}.get(verb, verb)
        if query.get("watch") in ("true", "1"):
            verb = "watch"
        resource = f"{target.plural}/{target.subresource}" if target.subresource else target.plural
        namespace = target.name if target.plural == "namespaces" and not target.group else target.namespace
        wish = AccessRequest(verb, target.group, resource, namespace, target.name)
        where = f'in the namespace "{wish.namespace}"' if wish.namespace else "at the cluster scope"
        said = f'User "{user.name}" cannot {wish.verb} resource "{wish.resource}" in API group "{wish.group}" {where}'
        about, name = ".".join(filter(None, (target.plural, target.group))), target.name
    allowed, why = authorize(store, user, wish)
    if allowed:
        return
    head = f'{about} "{name}" is forbidden' if name else f"{about} is forbidden" if about else "forbidden"
    details = {"name": name, "group": wish.group, "kind": target.plural if target else ""}
    details = {key: value for key, value in details.items() if value}
    raise Failure(403, "Forbidden", f"{head}: {said}{f': {why}' if why else ''}", details)


# Reviews of a user's identity and permissions.


def review(store: Store, kind: str, spec: Mapping[str, Any], namespace: str, user: User) -> tuple[Any, Any]:
    """Return the spec and the status of a review; the spec is None if the answer shows none."""
    if kind == "SelfSubjectReview":
        info = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
        return None, {"userInfo": {name: value for name, value in info.items() if value}}
    if kind == "SelfSubjectRulesReview":
        return {}, _list_rules(store, user, str(spec.get("namespace") or ""))
    if kind != "SelfSubjectAccessReview":
        user = User(str(spec.get("user") or ""), tuple(map(str, spec.get("groups") or ())))
    given = spec.get("resourceAttributes") or {}
    other = spec.get("nonResourceAttributes") or {}
    resource = "/".join(str(given[name]) for name in ("resource", "subresource") if given.get(name))
    wish = AccessRequest(
        str((given or other).get("verb") or ""),
        str(given.get("group") or ""),
        resource,
        str(given.get("namespace") or namespace),
        str(given.get("name") or ""),
        str(other.get("path") or ""),
    )
    allowed, why = authorize(store, user, wish)
    return spec, {"allowed": allowed, **({"reason": why} if why else {})}


def _list_rules(store: Store, user: User, namespace: str) -> Any:
    rules = [rule for _, rule in iterate_rules(store, user, namespace) if rule is not None]
    if user == VIEWER:
        every = {"apiGroups": ["*"], "resources": ["*"], "verbs": list(READS)}
        rules += [every, {"nonResourceURLs": ["*"], "verbs": ["get"]}]
    names = ("verbs", "apiGroups", "resources", "resourceNames")
    found = [{name: rule[name] for name in names if rule.get(name)} for rule in rules if rule.get("resources")]
    others = [
        {name: rule[name] for name in ("verbs", "nonResourceURLs")} for rule in rules if rule.get("nonResourceURLs")
    ]
    return {"resourceRules": found, "nonResourceRules": others, "incomplete": False}
