"""Expressions at random as cel-go v0.26.0 with kube v1.34.1's environment judged and evaluated them: errors of
compilation, types, values, errors, costs and estimates of costs, each of them exact.

recorded.json.xz also holds selectors of devices, evaluated by dynamic-resource-allocation/cel.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.cel import DYN, INT, STRING, CompileError, Environment, list_of, map_of
from scheduler_core.apimachinery.dra.features import SelectorError
from scheduler_core.apimachinery.dra.selectors import COST_LIMIT, device_variables, selector
from tests.scheduler_core.apimachinery.cel.written import read, written

RECORDED = json.loads(lzma.decompress(Path(__file__).with_name("recorded.json.xz").read_bytes()))
ENVIRONMENT = Environment({"x": DYN, "y": DYN, "l": list_of(INT), "s": STRING, "m": map_of(STRING, STRING)})


def judged(expression: str) -> dict[str, Any]:
    try:
        program = ENVIRONMENT.compile(expression, None)
    except CompileError as error:
        return {"e": expression, "compile": str(error)}
    outcome = program.evaluate(RECORDED["variables"])
    least, most = program.estimated_cost()
    found = {"e": expression, "cost": outcome.cost, "min": least, "max": most, "type": str(program.tree.type)}
    return {**found, **({"error": outcome.error} if outcome.error else {"value": written(outcome.value)})}


def selected(case: dict[str, Any]) -> dict[str, Any]:
    device = case["device"]
    try:
        compiled = selector(case["e"], device["consumable"], stored=not device["new"])
    except SelectorError as error:
        return {"e": case["e"], "device": device, "compile": str(error)}
    found = {"e": case["e"], "device": device, "max": compiled.program.estimated_cost().max}
    try:
        variables = device_variables(device["driver"], device["attributes"], device["capacity"], device["multi"])
        found["cost"] = compiled.program.evaluate(variables, COST_LIMIT).cost
        return {**found, "value": compiled.selects(variables)}
    except SelectorError as error:
        return {**found, "error": str(error)}


def test_expressions_are_evaluated_as_cel_go_evaluates_them() -> None:
    different = []
    for case in RECORDED["expressions"]:
        wanted = {**case, "value": read(case["value"])} if "value" in case else case
        found = judged(case["e"])
        if found != wanted:
            different.append((wanted, found))
    assert different == []


def test_selectors_of_devices_are_evaluated_as_kube_evaluates_them() -> None:
    different = [(case, found) for case in RECORDED["devices"] if (found := selected(case)) != case]
    assert different == []


def test_the_record_has_answers_of_all_kinds() -> None:
    kinds = {key for case in RECORDED["expressions"] for key in ("value", "error", "compile") if key in case}
    assert kinds == {"value", "error", "compile"}
    assert len(RECORDED["expressions"]) > 1000 and len(RECORDED["devices"]) > 400
