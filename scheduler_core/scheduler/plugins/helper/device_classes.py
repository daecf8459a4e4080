"""A DeviceClass that a claim asks for and that does not exist, made for the devices of a driver that are there."""

from collections.abc import Iterator, Sequence

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apimachinery.objects.storage.volumes import key_of
from scheduler_core.scheduler.framework import Change, Draft, Handle
from scheduler_core.scheduler.plugins.helper.arguments import likeness

KIND = "DeviceClass"
SLICES = "ResourceSlice"
MOST = 2


def class_made(draft: Draft, claims: Sequence[Manifest], handle: Handle, name: str) -> Iterator[Draft]:
    """Propose a class for drivers that no class names, or that the class is named after, ordered by likeness to the class name."""
    taken = " ".join(canonical(each.get("spec") or {}) for each in handle.list(KIND))
    named = {str(each["spec"].get("driver") or "") for each in handle.list(SLICES)}
    drivers = {driver for driver in named if driver and (driver not in taken or driver in name)}
    alike = sorted(drivers, key=lambda driver: (-likeness(name, driver), driver))
    asking = [key_of(claim) for claim in claims if name in _classes(claim)]
    for driver in alike[:MOST]:
        made = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": KIND,
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]},
        }
        values = {"class": name, "claim": asking[0] if asking else "", "driver": driver}
        yield draft.with_applied(Change("driver-class", values), made)


def _classes(claim: Manifest) -> list[str]:
    asked = ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ()
    return [
        str(each.get("deviceClassName") or "")
        for request in asked
        for each in (request.get("exactly") or {}, *(request.get("firstAvailable") or ()))
    ]
