"""DynamicResourcesArgs."""

from __future__ import annotations

import pytest

from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import ConfigurationError
from scheduler_core.scheduler.framework.features import Features
from tests.scheduler_core.worlds import configuration

NAME = "DynamicResources"


def loaded(timeout: str | None, features: Features) -> str | None:
    args = {} if timeout is None else {"filterTimeout": timeout}
    given = configuration(profiles=[{"pluginConfig": [{"name": NAME, "args": args}]}])
    found: str | None = load_configuration(given, features).profiles[0].args[NAME].get("filterTimeout")
    return found


def test_the_timeout_is_ten_seconds_where_its_gate_is_on() -> None:
    assert loaded(None, Features()) == "10s"
    assert loaded(None, Features(dra_filter_timeout=False)) is None
    assert loaded("5s", Features()) == "5s"


@pytest.mark.parametrize(
    ("timeout", "gate", "said"),
    [
        ("-1s", True, "must be zero or positive"),
        ("soon", True, 'time: invalid duration "soon"'),
        ("5s", False, "DRASchedulingFilterTimeout feature gate is disabled"),
    ],
)
def test_a_timeout_that_kube_does_not_take_is_refused(timeout: str, gate: bool, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        loaded(timeout, Features(dra_filter_timeout=gate))
