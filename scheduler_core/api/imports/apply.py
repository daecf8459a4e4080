"""Imports: objects that are said to be there, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.admission.plugin import ADMIN
from scheduler_core.api.imports.trial import Outcome, taken, tried
from scheduler_core.api.server import APIServer
from scheduler_core.api.status import Refused


def apply(
    api: APIServer, manifests: Sequence[Mapping[str, Any]], user: str = ADMIN, create_only: bool = False
) -> None:
    """Creates what is new and updates what is there, what others refer to first. Refused, with the errors of all, and nothing is done.

    `create_only` refuses names that are taken.
    """
    if len(manifests) == 1:  # what refuses one object refuses it before anything is written
        _demand([taken(api, manifests[0], user, create_only)])
        return
    trial = tried(api, manifests, user, create_only)
    _demand(trial.outcomes)
    api.store.adopt(trial.events, trial.store)


def _demand(outcomes: Sequence[Outcome]) -> None:
    refused = [outcome for outcome in outcomes if outcome.errors]
    if refused:
        raise Refused([error for outcome in refused for error in outcome.errors], refused[0].answer)
