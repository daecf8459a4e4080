"""ValidatingAdmissionPolicy: CEL expressions that refuse objects or only warn about them.

DEVIATIONS: policies that use the authorizer are skipped; audit annotations are not kept; writes of schedulers and kubelets (bindings,
statuses), evictions, and `scale` are not checked; the user of a write within the cluster follows from the owner of the created object;
all policies of a request share the cost limit that kube gives to each, so that other clients do not wait for long.

kube: apiserver/pkg/admission/plugin/policy/{validating,generic,matching}, apiserver/pkg/admission/plugin/cel,
apiserver/pkg/admission/plugin/webhook/{predicates,matchconditions} @ v1.37.2
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from scheduler_core.apimachinery.cel import BOOL, NULL, STRING, Environment, Program, Type
from scheduler_core.apimachinery.cel.values import Failure
from scheduler_core.apimachinery.objects import LabelSelector, Manifest
from scheduler_core.apiserver import expressions
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.kinds import find_kind, split_api_version
from scheduler_core.apiserver.object_defaults import with_object_defaults
from scheduler_core.apiserver.schema.api import read_api
from scheduler_core.apiserver.schema.zeros import fill
from scheduler_core.apiserver.status import Answer, Refused, forbidden

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
_GROUP = "admissionregistration.k8s.io"
_BUDGET, _MATCH_BUDGET, _LONGEST = 10_000_000, 2_500_000, 5 * 1024
_SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"
_ACCOUNTS = {"DaemonSet": "daemon-set", "ReplicationController": "replication"}
_OTHER_VERSIONS = {"horizontalpodautoscalers": ("v1", "v2"), "events": ("v1",)}

Object = Mapping[str, Any]
Values = dict[str, object]


class _ConfigurationError(Exception):
    """A policy or a binding that cannot be evaluated."""


class _CostExceeded(Exception):
    """The expressions of a policy exceed their cost limit."""


class _Decision(NamedTuple):
    """A refusal of a request: the message, and the reason of the Status."""

    message: str
    reason: str = "Invalid"


class ValidatingAdmissionPolicy(AdmissionPlugin):
    name = "ValidatingAdmissionPolicy"

    def validate(self, request: Request, manifest: Manifest) -> None:
        if (
            not request.store.count(BINDING)
            or request.kind.group == _GROUP
            or _is_there(request, manifest)
            or request.scales
        ):
            return
        attributes, denials = _Attributes(request, manifest), list[Refused]()
        bindings = request.store.list(BINDING)
        for policy in request.store.list(POLICY):
            name = policy["metadata"]["name"]
            mine = [each for each in bindings if (each.get("spec") or {}).get("policyName") == name]
            if not mine or not attributes.match(policy["spec"].get("matchConstraints") or {}):
                continue
            if expressions.asks_authorizer(expressions.expressions_of(policy["spec"])):
                continue
            for binding in mine:
                denials += _ask(request, attributes, policy, binding)
        if denials:
            raise denials[0]


def _is_there(request: Request, manifest: Manifest) -> bool:
    """Return whether an import declares an existing object, which may be older than the policy."""
    status = manifest.get("status") or {}
    new = status.get("phase") == "Pending" and not status.get("conditions") if request.kind.key == "Pod" else not status
    return request.imported and (request.operation != "CREATE" or not new)


class _Attributes:
    """A request in the form that policies use."""

    def __init__(self, request: Request, manifest: Manifest) -> None:
        self.request = request
        old, new = (manifest, None) if request.operation == "DELETE" else (request.old, manifest)
        self.group, self.version = split_api_version(str(manifest.get("apiVersion") or ""))
        self.is_namespace = request.kind.key == "Namespace"
        self.labels = [each["metadata"].get("labels") or {} for each in (new, old) if each is not None]
        self._new, self._old = new, old
        self._values: Values | None = None
        self.budget = _Budget(_BUDGET)

    def match(self, rules: Object) -> bool:
        """Return whether matchConstraints or matchResources select the request."""
        request = self.request
        selector = LabelSelector.of(rules.get("namespaceSelector") or {})
        if (request.namespace or self.is_namespace) and not selector.empty:
            store = request.store
            namespace = store.get("Namespace", "", request.namespace or request.name) or {"metadata": {}}
            if self.is_namespace and self._new is not None:
                namespace = self._new
            if not selector.matches(namespace["metadata"].get("labels") or {}):
                return False
        selector = LabelSelector.of(rules.get("objectSelector") or {})
        if not selector.empty and not any(selector.matches(each) for each in self.labels):
            return False
        exact = rules.get("matchPolicy") == "Exact"
        if any(self._obeys(rule, exact) for rule in rules.get("excludeResourceRules") or ()):
            return False
        wanted = rules.get("resourceRules") or ()
        return not wanted or any(self._obeys(rule, exact) for rule in wanted)

    def _obeys(self, rule: Object, exact: bool) -> bool:
        request, scope = self.request, rule.get("scope") or "*"
        clusterwide = self.is_namespace or not request.namespace
        if scope != "*" and (scope == "Cluster") != clusterwide:
            return False
        versions = (self.version, *(() if exact else _OTHER_VERSIONS.get(request.kind.plural, ())))
        names, resources = rule.get("resourceNames") or (), rule.get("resources") or ()
        parts = (each.partition("/")[::2] for each in resources)
        return (
            _has(rule.get("operations"), request.operation)
            and _has(rule.get("apiGroups"), self.group)
            and any(_has(rule.get("apiVersions"), each) for each in versions)
            and any(res in ("*", request.kind.plural) and sub in ("*", request.subresource) for res, sub in parts)
            and (not names or request.name in names)
        )

    @property
    def values(self) -> Values:
        """The variables that expressions read, except `params` and `variables`."""
        if self._values is None:
            request = self.request
            home = request.store.get("Namespace", "", request.namespace) if request.namespace else None
            kind = {"group": self.group, "version": self.version, "kind": request.kind.key.partition(".")[0]}
            resource = {"group": self.group, "version": self.version, "resource": request.kind.plural}
            part = ("subResource", "requestSubResource") if request.subresource else ()
            namespace = request.name if self.is_namespace else request.namespace
            said = {
                **dict.fromkeys(("kind", "requestKind"), kind),
                **dict.fromkeys(("resource", "requestResource"), resource),
                **dict.fromkeys(part, request.subresource),
                "name": request.name,
                **({"namespace": namespace} if namespace else {}),
                "operation": request.operation,
                "userInfo": self._user(),
                "dryRun": request.dry_run,
                "options": {"apiVersion": "meta.k8s.io/v1", "kind": f"{request.operation.capitalize()}Options"},
            }
            self._values = {
                "object": _complete(self._new),
                "oldObject": _complete(self._old),
                "namespaceObject": _complete(home),
                "request": said,
            }
        return self._values

    def _user(self) -> dict[str, object]:
        name, groups = self.request.user, ["system:masters"]
        owners = (self._new or self._old or {"metadata": {}})["metadata"].get("ownerReferences") or ()
        maker = next((str(each.get("kind")) for each in owners if each.get("controller")), "")
        if name.startswith("system:node:"):
            groups = ["system:nodes"]
        elif not name and maker and self.request.operation == "CREATE":
            name = f"system:serviceaccount:kube-system:{_ACCOUNTS.get(maker, maker.lower())}-controller"
            groups = ["system:serviceaccounts", "system:serviceaccounts:kube-system"]
        elif name:
            groups = []
        return {"username": name or "kubernetes-admin", "groups": [*groups, "system:authenticated"]}


def _has(wanted: Any, value: str) -> bool:
    return "*" in (wanted or ()) or value in (wanted or ())


def _complete(manifest: Manifest | None) -> Manifest | None:
    """Return an object as Go has it, with defaults and zero values."""
    if manifest is None:
        return None
    type_ = read_api()["kinds"].get(f"{manifest.get('apiVersion')} {manifest.get('kind')}", "")
    filled: Manifest = fill(type_, with_object_defaults(str(manifest.get("kind")), manifest) if type_ else manifest)
    return filled


def _ask(request: Request, attributes: _Attributes, policy: Manifest, binding: Manifest) -> Iterator[Refused]:
    """Yield the denials of a request by a policy with one of its bindings."""
    spec, bound, fails = policy["spec"], binding["spec"], policy["spec"].get("failurePolicy") != "Ignore"
    if bound.get("matchResources") is not None and not attributes.match(bound["matchResources"]):
        return
    names = (policy["metadata"]["name"], binding["metadata"]["name"])
    try:
        params = list(_find_params(request, spec.get("paramKind"), bound.get("paramRef")))
    except _ConfigurationError as wrong:
        if fails:
            yield _deny(request, names, _Decision(f"failed to configure binding: {wrong}"))
        return
    for each in params:
        values = {**attributes.values, **({"params": _complete(each)} if spec.get("paramKind") else {})}
        for decision in _decide(spec, values, fails, attributes.budget):
            if "Warn" in bound["validationActions"] and request.warnings is not None:
                said = f"Validation failed for {POLICY} '{names[0]}' with binding '{names[1]}': {decision.message}"
                request.warnings.append(said)
            if "Deny" in bound["validationActions"]:
                yield _deny(request, names, decision)


def _deny(request: Request, names: tuple[str, str], decision: _Decision) -> Refused:
    message = f"{POLICY} '{names[0]}' with binding '{names[1]}' denied request: {decision.message}"
    text = forbidden(request.kind.resource, request.name, message).message
    return Refused.because(Answer(decision.reason, text, (message,)), request.what)


def _find_params(request: Request, kind: Object | None, reference: Object | None) -> Iterator[Manifest | None]:
    if kind is None or reference is None:
        yield None
        return
    found = find_kind(str(kind.get("apiVersion")), str(kind.get("kind")))
    namespace = reference.get("namespace") or request.namespace
    scopes = [
        each["spec"].get("scope")
        for each in request.store.list("CustomResourceDefinition")
        if found is not None and f"{each['spec']['names']['kind']}.{each['spec']['group']}" == found.key
    ]
    if found is None or not found.namespaced or "Cluster" in scopes:
        if reference.get("namespace"):
            raise _ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        namespace = ""
    elif not namespace:
        why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        raise _ConfigurationError(why)
    stored = () if found is None else request.store.list(found.key)
    there = [each for each in stored if (each["metadata"].get("namespace") or "") == namespace]
    if reference.get("name"):
        there = [each for each in there if each["metadata"]["name"] == reference["name"]]
    else:
        selector = LabelSelector.of(reference.get("selector"))
        there = [each for each in there if selector.matches(each["metadata"].get("labels") or {})]
    if not there and reference.get("parameterNotFoundAction") == "Deny":
        raise _ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction")
    yield from there


# The expressions of a policy


class _Budget:
    """A cost limit that expressions share. The cost also counts against a larger limit."""

    def __init__(self, most: int, whole: "_Budget | None" = None) -> None:
        self._left, self._whole = most, whole

    def spend(self, cost: int) -> None:
        """Subtract a cost. Raise _CostExceeded."""
        self._left -= cost
        if self._left < 0:
            raise _CostExceeded
        if self._whole is not None:
            self._whole.spend(cost)

    def evaluate(self, compiled: expressions.Compiled, text: str, values: Values) -> object:
        """Return the value of an expression, or a Failure with kube's message. Raise _CostExceeded."""
        if isinstance(compiled, str):
            return Failure(f"compilation error: {compiled}")
        outcome = compiled.evaluate(values)
        self.spend(outcome.cost)
        return Failure(f"expression '{text}' resulted in error: {outcome.error}") if outcome.error else outcome.value


@lru_cache(maxsize=1024)
def _compile(environment: Environment, text: str, types: tuple[Type, ...]) -> expressions.Compiled:
    return expressions.compile_expression(environment, text, *types)


def _decide(spec: Object, values: Values, fails: bool, whole: _Budget) -> list[_Decision]:
    """Return a policy's refusals of a request. `fails`: errors refuse it, too; `whole`: the budget that all policies share."""
    bare = expressions.compose((), spec.get("paramKind") is not None)[0]
    environment, variables = expressions.environment_of(spec)
    wrong: list[str] = []
    try:
        budget = _Budget(_MATCH_BUDGET, whole)
        for each in spec.get("matchConditions") or ():
            text = each["expression"]
            met = budget.evaluate(_compile(bare, text, (BOOL,)), text, {**values, "namespaceObject": None})
            if met is False:
                return []
            wrong += [met.message] if isinstance(met, Failure) else []
    except _CostExceeded:
        wrong = [_SPENT]
    if wrong:
        said = wrong[0] if len(wrong) == 1 else f"[{', '.join(dict.fromkeys(wrong))}]"
        return [_Decision(said)] if fails else []
    budget, decisions = _Budget(_BUDGET, whole), []
    try:
        values = {**values, "variables": _evaluate_variables(variables, values, whole)}
        for each in spec.get("validations") or ():
            text = each["expression"]
            found = budget.evaluate(_compile(environment, text, (BOOL,)), text, values)
            if isinstance(found, Failure):
                decisions += [_Decision(found.message)] if fails else []
            elif found is not True:
                message = _message_of(each, budget, environment, values)
                decisions.append(_Decision(message, each.get("reason") or "Invalid"))
        for each in spec.get("auditAnnotations") or ():
            text = each["valueExpression"]
            found = budget.evaluate(_compile(environment, text, (STRING, NULL)), text, values)
            decisions += [_Decision(found.message)] if fails and isinstance(found, Failure) else []
    except _CostExceeded:
        return [_Decision(_SPENT)] if fails else []
    return decisions


def _evaluate_variables(
    variables: Mapping[str, expressions.Compiled], values: Values, whole: _Budget
) -> dict[str, object]:
    """Return the values of a policy's variables. An error is reported when an expression reads the variable."""
    found: dict[str, object] = {}
    for name, compiled in variables.items():
        if isinstance(compiled, Program):
            outcome = compiled.evaluate({**values, "variables": found})
            whole.spend(outcome.cost)
            why = f'composited variable "{name}" fails to evaluate: {outcome.error}'
            found[name] = Failure(why) if outcome.error else outcome.value
        else:
            found[name] = Failure(f'composited variable "{name}" fails to compile: {compiled}')
    return found


def _message_of(validation: Object, budget: _Budget, environment: Environment, values: Values) -> str:
    said: object = None
    if text := validation.get("messageExpression"):
        said = budget.evaluate(_compile(environment, text, (STRING,)), text, values)
    words = said.strip() if isinstance(said, str) else ""
    if len(words.encode()) > _LONGEST or "\n" in words:
        words = ""
    words = words or str(validation.get("message") or "").strip()
    return words or f"failed expression: {validation['expression'].strip()}"
