"""A namespace that is deleted goes when it is empty."""

from __future__ import annotations

from tests.scheduler_core.clusters import cluster, delete, make, meta_of, patch, wait

NAMESPACES = ["namespace-controller"]


def test_it_is_marked_at_once_and_goes_with_its_content_5_s_later() -> None:
    sim = cluster(
        make("Namespace", "a", ""), make("ConfigMap", "c", "a"), make("ConfigMap", "c"), controllers=NAMESPACES
    )
    delete(sim, "Namespace", "a", "")
    namespace = sim.store.get("Namespace", "", "a")
    assert namespace is not None
    assert namespace["status"]["phase"] == "Terminating"
    assert namespace["spec"]["finalizers"] == ["kubernetes"]
    wait(sim, 4.9)
    assert meta_of(sim, "ConfigMap", "c", "a") is not None
    wait(sim, 5)
    assert meta_of(sim, "ConfigMap", "c", "a") is None
    assert sim.store.get("Namespace", "", "a") is None
    assert meta_of(sim, "ConfigMap", "c") is not None


def test_a_finalizer_holds_it_and_its_conditions_say_what_is_left() -> None:
    held = make("ConfigMap", "c", "a", metadata={"finalizers": ["example.com/hold"]})
    sim = cluster(make("Namespace", "a", ""), held, controllers=NAMESPACES)
    delete(sim, "Namespace", "a", "")
    wait(sim, 60)
    namespace = sim.store.get("Namespace", "", "a")
    assert namespace is not None
    conditions = {c["type"]: (c["status"], c["message"]) for c in namespace["status"]["conditions"]}
    assert conditions["NamespaceDeletionContentFailure"][0] == "False"
    assert conditions["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: configmaps. has 1 resource instances",
    )
    assert conditions["NamespaceFinalizersRemaining"] == (
        "True",
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    )
    patch(sim, "ConfigMap", "c", {"metadata": {"finalizers": None}}, "a")
    wait(sim, 60.9)
    assert sim.store.get("Namespace", "", "a") is not None
    wait(sim, 61)
    assert sim.store.get("Namespace", "", "a") is None


def test_its_end_cannot_be_called_off() -> None:
    sim = cluster(make("Namespace", "a", ""), controllers=[])
    delete(sim, "Namespace", "a", "")
    patch(sim, "Namespace", "a", {"spec": {"finalizers": None}, "status": {"phase": "Active"}}, "")
    namespace = sim.store.get("Namespace", "", "a")
    assert namespace is not None
    assert (namespace["status"]["phase"], namespace["spec"]["finalizers"]) == ("Terminating", ["kubernetes"])
