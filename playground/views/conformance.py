"""How faithful the engine is: the last run of the conformance corpus, families by plugins. `make conformance` writes what is shown."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from scheduler_core.scheduler.plugins.registry import registry

RUN = Path(__file__).resolve().parent / "data" / "conformance.json"


@require_GET
def conformance(request: HttpRequest) -> HttpResponse:
    """Scenarios passed by family, and in how many of them each plugin takes a part."""
    return render(request, "playground/conformance.html", {"run": present_run(last_run())})


@cache
def last_run() -> dict[str, Any]:
    """The data of the run as the command printed it."""
    data: dict[str, Any] = json.loads(RUN.read_text())
    return data


def present_run(run: dict[str, Any]) -> dict[str, Any]:
    """The run as a table: plugins in kube's order as columns, those that no scenario shows left out."""
    seen = {name for family in run["families"] for name in family["plugins"]}
    plugins = [name for name in registry() if name in seen]
    plugins += sorted(seen - set(plugins))
    rows = [
        {
            **family,
            "name": family["family"].replace("_", " "),
            "whole": family["pass"] == family["scenarios"],
            "cells": [family["plugins"].get(name, 0) for name in plugins],
        }
        for family in run["families"]
    ]
    totals = [sum(row["cells"][i] for row in rows) for i in range(len(plugins))]
    whole = run["pass"] == run["scenarios"]
    return {**run, "plugins": plugins, "rows": rows, "totals": totals, "whole": whole}
