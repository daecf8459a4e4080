"""Each namespace has a ServiceAccount `default`, in clusters whose first namespace has one."""

from __future__ import annotations

from tests.scheduler_core.clusters import cluster, delete, make, meta_of, wait

ACCOUNT = make("ServiceAccount", "default")


def test_a_new_namespace_gets_its_account() -> None:
    sim = cluster(ACCOUNT, make("Namespace", "a", ""))
    wait(sim, 1)
    assert meta_of(sim, "ServiceAccount", "default", "a") is not None


def test_a_deleted_account_is_created_again() -> None:
    sim = cluster(ACCOUNT, make("Namespace", "a", ""))
    wait(sim, 1)
    first = meta_of(sim, "ServiceAccount", "default", "a")
    delete(sim, "ServiceAccount", "default", "a")
    wait(sim, 2)
    again = meta_of(sim, "ServiceAccount", "default", "a")
    assert first is not None and again is not None
    assert first["uid"] != again["uid"]


def test_the_account_goes_with_its_namespace() -> None:
    sim = cluster(ACCOUNT, make("Namespace", "a", ""))
    wait(sim, 1)
    delete(sim, "Namespace", "a", "")
    wait(sim, 20)
    assert meta_of(sim, "Namespace", "a", "") is None
    assert meta_of(sim, "ServiceAccount", "default", "a") is None


def test_a_world_without_accounts_gets_none_and_does_nothing_about_them() -> None:
    sim = cluster(make("Namespace", "a", ""))
    wait(sim, 1)
    assert not sim.store.count("ServiceAccount")
    assert sim.surroundings.queues.get("serviceaccount-controller") is None
