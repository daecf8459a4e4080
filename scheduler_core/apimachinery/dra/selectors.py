"""CEL selectors of devices: `device.driver`, `device.attributes[domain].name`, `device.capacity[domain].name`,
and `device.allowMultipleAllocations`.

An unknown domain is an empty map, an unknown name in it an error. What an expression says of a device never changes,
so answers are kept.

kube: dynamic-resource-allocation/cel/{compile,cache}.go @ v1.34.1
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from scheduler_core.apimachinery import cel
from scheduler_core.apimachinery.cel.estimate import DeclaredSize
from scheduler_core.apimachinery.cel.library.kubernetes import BadVersion, parse_version, quantity_value
from scheduler_core.apimachinery.cel.types import QUANTITY
from scheduler_core.apimachinery.cel.values import DefaultMap, QuantityValue, SemverValue
from scheduler_core.apimachinery.dra.features import SelectorError
from scheduler_core.apimachinery.dra.slices import Device
from scheduler_core.apimachinery.objects.manifest import Manifest

COST_LIMIT = 1_000_000  # CELSelectorExpressionMaxCost, of one expression for one device

Variables = Mapping[str, object]
_NOT_BOOL = {
    str: ("string", "unsupported native conversion from string to 'bool'"),
    int: ("int", "unsupported type conversion from 'int' to bool"),
    SemverValue: ("kubernetes.Semver", "type conversion error from 'Semver' to 'bool'"),
    QuantityValue: ("kubernetes.Quantity", "type conversion error from 'Quantity' to 'bool'"),
}
_MOST_KEPT = 65_536


def _environment(shareable: bool, without: frozenset[str]) -> cel.Environment:
    fields = {
        "driver": cel.STRING,
        "attributes": cel.map_of(cel.STRING, cel.map_of(cel.STRING, cel.ANY)),
        "capacity": cel.map_of(cel.STRING, cel.map_of(cel.STRING, QUANTITY)),
    }
    if shareable:
        fields["allowMultipleAllocations"] = cel.BOOL
    structs = {"kubernetes.DRADevice": fields}
    return cel.Environment({"device": cel.struct("kubernetes.DRADevice")}, structs, {"device": _SIZES}, without)


# DeviceMaxDomainLength, DeviceMaxIDLength, DeviceAttributeMaxValueLength, DriverNameMaxLength, and
# ResourceSliceMaxAttributesAndCapacitiesPerDevice
_DOMAIN, _ID, _VALUE, _DRIVER, _MOST = DeclaredSize(63), DeclaredSize(32), DeclaredSize(64), DeclaredSize(63), 32
_ATTRIBUTES = DeclaredSize(_MOST, key=_ID, element=_VALUE, by_name=True)
_CAPACITY = DeclaredSize(_MOST, key=_ID, element=DeclaredSize(0))
_SIZES = DeclaredSize(
    0,
    fields={
        "driver": _DRIVER,
        "allowMultipleAllocations": DeclaredSize(1),
        "attributes": DeclaredSize(_MOST, key=_DOMAIN, element=_ATTRIBUTES),
        "capacity": DeclaredSize(_MOST, key=_DOMAIN, element=_CAPACITY),
    },
)
# What is stored runs with all there is, whatever the gates say.
_STORED = _environment(True, frozenset())
_NEW = {consumable: _environment(consumable, cel.NEWER) for consumable in (False, True)}


class Selector:
    """A compiled CEL selector."""

    def __init__(self, program: cel.Program) -> None:
        self.program = program

    def matches(
        self,
        driver: str,
        attributes: Mapping[str, Manifest],
        capacity: Mapping[str, Manifest],
        allow_multiple: bool | None = None,
    ) -> bool:
        """Return whether the device is selected. Raise SelectorError in kube's words."""
        return self.selects(device_variables(driver, attributes, capacity, allow_multiple))

    def selects(self, variables: Variables) -> bool:
        """Return whether the device with these variables (device_variables) is selected. Raise SelectorError in kube's words."""
        outcome = self.program.evaluate(variables, COST_LIMIT)
        if outcome.error:
            raise SelectorError("runtime", outcome.error)
        if isinstance(outcome.value, bool):
            return outcome.value
        name, cause = _NOT_BOOL.get(outcome.value.__class__, ("null_type", "type conversion error"))
        raise SelectorError("runtime", f"CEL result of type {name} could not be converted to bool: {cause}")

    def watched(self, variables: Variables) -> cel.Outcome:
        """The evaluation with the values of all sub-expressions."""
        return self.program.evaluate(variables, COST_LIMIT, watch=True)


@lru_cache(maxsize=1024)
def selector(expression: str, consumable: bool = False, stored: bool = True) -> Selector:
    """Compile a selector. Raise SelectorError if it does not compile.

    A selector that is not yet `stored` may use device.allowMultipleAllocations only with DRAConsumableCapacity (`consumable`), and no
    functions that an API server of the previous release lacks.
    """
    try:
        return Selector((_STORED if stored else _NEW[consumable]).compile(expression))
    except cel.CompileError as error:
        text = str(error)
        raise SelectorError("compile", f"compilation failed: {text}" if text.startswith("ERROR: ") else text) from None


def is_too_complex(expression: str, consumable: bool = False, stored: bool = True) -> bool:
    """Return whether the expression may exceed the cost limit of an evaluation, so that kube's API server refuses it.

    Raise SelectorError if the expression does not compile.
    """
    return selector(expression, consumable, stored).program.estimated_cost().max > COST_LIMIT


def device_variables(
    driver: str,
    attributes: Mapping[str, Manifest],
    capacity: Mapping[str, Manifest],
    allow_multiple: bool | None = None,
) -> Variables:
    """Return a device's variables for expressions. Raise SelectorError if an attribute has no value or is a malformed version."""
    values = {name: _attribute_value(name, attribute) for name, attribute in attributes.items()}
    amounts = {name: quantity_value(entry.get("value", 0)) for name, entry in capacity.items()}
    device = {
        "driver": driver,
        "allowMultipleAllocations": bool(allow_multiple),
        "attributes": _by_domain(values, driver),
        "capacity": _by_domain(amounts, driver),
    }
    return {"device": device}


def _attribute_value(name: str, attribute: Manifest) -> object:
    for kind in ("int", "bool", "string"):
        if attribute.get(kind) is not None:
            return attribute[kind]
    version = attribute.get("version")
    if version is None:
        raise SelectorError("runtime", f"attribute {name}: unsupported attribute value")
    try:
        return parse_version(version)
    except BadVersion as error:
        raise SelectorError("runtime", f"attribute {name}: parse semantic version: {error}") from None


def _by_domain(values: Mapping[str, object], driver: str) -> DefaultMap:
    """Group values by domain. Names without a domain are in the driver's domain."""
    domains: dict[str, dict[object, object]] = {}
    for name, value in values.items():
        domain, slash, identifier = name.partition("/")
        if not slash:
            domain, identifier = driver, name
        domains.setdefault(domain, {})[identifier] = value
    return DefaultMap(domains)


class CelSelectors:
    """The answers of expressions for devices, kept."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, Device], bool | SelectorError] = {}
        self._variables: dict[Device, Variables | SelectorError] = {}

    def matches(self, expression: str, device: Device) -> bool:
        """Return whether the expression selects the device. Raise SelectorError if evaluation fails."""
        answer = self._answers.get((expression, device))
        if answer is None:
            answer = self._ask(expression, device)
            _room_in(self._answers)
            self._answers[expression, device] = answer
        if isinstance(answer, SelectorError):
            raise SelectorError(answer.kind, str(answer))
        return answer

    def values(self, expression: str, device: Device) -> list[dict[str, Any]]:
        """Return the values of the expression's parts for the device: their text, position, and JSON value."""
        try:
            compiled, variables = selector(expression), self._of(device)
        except SelectorError:
            return []
        return [
            {"text": expression[start:end], "start": start, "end": end, "value": value}
            for start, end, value in compiled.watched(variables).values
        ]

    def _ask(self, expression: str, device: Device) -> bool | SelectorError:
        try:
            return selector(expression).selects(self._of(device))
        except SelectorError as error:
            return error

    def _of(self, device: Device) -> Variables:
        variables = self._variables.get(device)
        if variables is None:
            _room_in(self._variables)
            variables = self._variables[device] = _ready(device)
        if isinstance(variables, SelectorError):
            raise variables
        return variables


def _ready(device: Device) -> Variables | SelectorError:
    try:
        return device_variables(device.id.driver, device.attributes, device.capacity_manifest, device.allows_multiple)
    except SelectorError as error:
        return error


def _room_in(kept: dict[Any, Any]) -> None:
    """Drop the older half of a full cache."""
    if len(kept) >= _MOST_KEPT:
        for key in list(kept)[: _MOST_KEPT // 2]:
            del kept[key]
