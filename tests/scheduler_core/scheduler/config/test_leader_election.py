"""What is refused of leaderElection where it is put to use. kube: component-base/config/validation/validation_test.go"""

from typing import Any

import pytest

from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.scheduler.config.defaults import election_config
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import API_VERSION, KIND, ConfigurationError


def configuration(**election: Any) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": election}


@pytest.mark.parametrize(
    ("election", "error"),
    [
        (
            {"leaseDuration": "5s"},
            'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        (
            {"leaseDuration": "10s"},
            'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        ({"renewDeadline": "-5s"}, 'leaderElection.renewDeadline: Invalid value: "-5s": must be greater than zero'),
        ({"retryPeriod": "-2000ms"}, 'leaderElection.retryPeriod: Invalid value: "-2s": must be greater than zero'),
        (
            {"renewDeadline": "2400ms"},
            "leaderElection: couldn't create leader elector: renewDeadline must be greater than retryPeriod*JitterFactor",
        ),
        ({"leaseDuration": "soon"}, 'leaderElection.leaseDuration: time: invalid duration "soon"'),
        (
            {"resourceLock": "endpointsleases"},
            'leaderElection.resourceLock: Invalid value: "endpointsleases": resourceLock value must be "leases"',
        ),
    ],
)
def test_a_leader_election_that_is_refused(election: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load_configuration(configuration(**election), elections=True)
    assert [str(e) for e in raised.value.errors] == [error]


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as raised:
        load_configuration(configuration(leaseDuration="-1s", renewDeadline="-1s", retryPeriod="-1s"), elections=True)
    assert len(raised.value.errors) == 4


@pytest.mark.parametrize(
    "election",
    [{}, {"renewDeadline": "2401ms"}, {"leaderElect": False, "leaseDuration": "-5s"}, {"leaseDuration": "0s"}],
)
def test_a_leader_election_that_is_accepted(election: dict[str, Any]) -> None:
    load_configuration(configuration(**election), elections=True)


def test_where_nobody_stands_for_election_its_durations_are_not_looked_at() -> None:
    load_configuration(configuration(leaseDuration="5s", retryPeriod="soon"))


def test_what_an_election_is_held_by() -> None:
    config = election_config(load_configuration(configuration(leaseDuration="1m")).manifest)
    assert config is not None
    assert (config.lease_duration, config.namespace) == (60 * SECOND, "kube-system")
    assert election_config(load_configuration(configuration(leaderElect=False)).manifest) is None
