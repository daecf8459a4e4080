"""The four places where a session is edited, and their rooms: one table for the menu, the drawer's tabs, and the rooms' pages."""

from typing import Any, NamedTuple

from django import template
from django.utils.translation import gettext_lazy as _

register = template.Library()


class Room(NamedTuple):
    """A page: its URL name, its name in the context (`room` or `what`), its title, and the tab that contains it, if it has none of its
    own.
    """

    url: str
    name: str
    title: Any
    under: str = ""
    tab: Any = ""


class Place(NamedTuple):
    """Rooms that belong together."""

    title: Any
    rooms: tuple[Room, ...]


PLACES = (
    Place(
        _("Build"),
        (
            Room("build-nodes", "nodes", _("Nodes"), tab=_("Node")),
            Room("build-pods", "pods", _("Pods"), tab=_("Pod")),
            Room("objects", "objects", _("Objects"), tab=_("Other")),
            Room("build-devices", "devices", _("Devices"), "objects"),
            Room("build-claims", "claims", _("Claims"), "objects"),
            Room("import", "import", _("Import"), "objects"),
            Room("yaml", "yaml", "YAML"),
        ),
    ),
    Place(
        _("Scheduler"),
        (
            Room("configuration", "configuration", _("Configuration")),
            Room("plugins", "plugins", _("Own plugins")),
            Room("components", "components", _("Components")),
            Room("extenders", "extenders", _("Extenders")),
            Room("calls", "calls", _("API calls")),
        ),
    ),
    Place(
        _("Steps"),
        (
            Room("steps", "steps", _("Steps")),
            Room("records", "records", _("Records")),
            Room("timeline", "timeline", _("The lanes as a table"), "records"),
            Room("diff", "diff", _("Changes")),
            Room("commands", "commands", _("Commands")),
            Room("breakpoints", "breakpoints", _("Breakpoints")),
        ),
    ),
    Place(
        _("Session"),
        (
            Room("session", "session", _("Session")),
            Room("branches", "branches", _("Branches")),
            Room("exports", "exports", _("Export")),
            Room("capacity", "capacity", _("Capacity")),
            Room("experiments", "experiments", _("Experiments")),
            Room("upgrade", "upgrade", _("Upgrade")),
            Room("session-gangs", "gangs", _("Coscheduling and pod groups"), "upgrade"),
            Room("second-opinion", "second_opinion", _("Second opinion")),
        ),
    ),
)
NARROW = ("steps", "nodes", "pods", "devices", "claims", "yaml", "breakpoints", "session", "act")


@register.simple_tag
def places() -> tuple[Place, ...]:
    return PLACES


@register.simple_tag
def place_of(name: str) -> dict[str, Any]:
    """Return the tabs of a room's place, those below its tab, and whether it needs the width of a table and allows forks."""
    place = next((each for each in PLACES if any(room.name == name for room in each.rooms)), None)
    rooms = place.rooms if place else ()
    under = next((room.under or room.name for room in rooms if room.name == name), "")
    below = [room for room in rooms if under in (room.under, room.name)]
    return {
        "place": place,
        "tabs": [room for room in rooms if not room.under],
        "under": under,
        "below": below if len(below) > 1 else [],
        "builds": place in (None, PLACES[0]),
        "wide": name not in NARROW,
        "asks": place in (None, *PLACES[:2]) or name == "breakpoints",
    }
