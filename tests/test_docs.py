"""The documents keep up with the code: whatever a user can set, run, read or ask for is documented, and nothing that is gone."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from django.conf import global_settings
from django.core.management import get_commands
from django.urls import URLPattern, URLResolver, get_resolver

from playground import VERSION
from scheduler_core import ENGINE_VERSION, KUBE_VERSION
from scheduler_core.analysis.explain import State
from scheduler_core.apiserver.faults import Call
from scheduler_core.base.trace.kinds import CLASSES, KINDS, Facts
from scheduler_core.base.trace.records import description, fields_of
from scheduler_core.controllers.catalogue import CONTROLLERS
from scheduler_core.scheduler.config.gates import asked_gates
from scheduler_core.scheduler.config.settings import READ_AT_START, WorldSettings
from scheduler_core.scheduler.framework.drafts import KINDS as KINDS_OF_FIXES
from scheduler_core.scheduler.framework.plugin import Plugin, Point, takes_part
from scheduler_core.scheduler.metrics.catalogue import FORMER, METRICS
from scheduler_core.scheduler.plugins import ROOMS
from scheduler_core.scheduler.plugins.demonstration import PREFIX
from scheduler_core.world.commands import KINDS as KINDS_OF_COMMANDS
from tests.architecture_tables import actions, phases
from tests.record_tables import fields, kinds
from tests.release_tables import differences, dropped, rules
from tests.release_tables import fields as api_fields

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/corpus/README.md")])
PLAYGROUND = sorted((ROOT / "playground").rglob("*.py"))
ENVIRONMENT_READERS = {"env", "os.environ.get", "os.getenv", "environ.get"}
SET_BY_US = {"DJANGO_SETTINGS_MODULE"}


def first_column(document: str) -> list[str]:
    """The names in backticks that open the rows of a document's tables."""
    return re.findall(r"^\| `([^`]+)`", (ROOT / document).read_text(), flags=re.MULTILINE)


def settings_read(source: str) -> set[str]:
    """The environment variables that a module reads: literal first arguments of the readers, and subscripts of os.environ."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            reads = re.sub(r"env_\w+", "env", ast.unparse(node.func)) in ENVIRONMENT_READERS
            found |= {str(node.args[0].value)} if reads else set()
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            found |= {ast.literal_eval(node.slice)} if isinstance(node.slice, ast.Constant) else set()
    return found - SET_BY_US


def all_settings() -> set[str]:
    return set().union(*(settings_read(path.read_text()) for path in PLAYGROUND))


def make_variables() -> set[str]:
    """The environment variables that make and its scripts read."""
    sources = [ROOT / "Makefile", *(ROOT / "scripts").glob("*.sh")]
    text = "\n".join(path.read_text() for path in sources)
    used = re.findall(r"\$[{(]([A-Z][A-Z_]+)[:)]", text)
    return {*used, *re.findall(r"^([A-Z_]+) \?=", text, flags=re.MULTILINE)}


def our_commands() -> set[str]:
    return {name for name, app in get_commands().items() if app == "playground"}


def named_urls(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> dict[str, str]:
    """Name -> path of every named URL."""
    found = {}
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found |= named_urls(pattern.url_patterns, path)
        elif pattern.name:
            found[pattern.name] = path
    return found


def keys_listened_to() -> set[str]:
    """Every key that static/playground/js/studio/keys.js acts on, as the keyboard prints it."""
    source = (ROOT / "static/playground/js/studio/keys.js").read_text()
    tables = re.findall(r"const (?:KEYS|LANES) = \{(.*?)\};", source, re.DOTALL)
    assert len(tables) == 2
    named = re.findall(r'^  "(?:Shift |Ctrl )?([^"]+)": \[', "".join(tables), re.MULTILINE)
    named += re.findall(r'\bevent\.key === "([^"]+)"', source)
    named += [digit for pair in re.findall(r"\[(\d)-(\d)\]", source) for digit in pair]
    printed = {"ArrowRight": "→", "ArrowLeft": "←", " ": "Space", "Escape": "Esc"}
    return {printed.get(name, name.upper() if len(name) == 1 else name) for name in named}


def test_every_setting_is_read_in_one_place() -> None:
    elsewhere = {path.name: settings_read(path.read_text()) for path in PLAYGROUND if path.name != "settings.py"}
    assert {name: read for name, read in elsewhere.items() if read} == {}


def test_every_setting_has_an_effect() -> None:
    source = (ROOT / "playground/settings.py").read_text()
    ours = re.findall(r"^([A-Z_]+) = env", source, flags=re.MULTILINE)
    readers = "".join(path.read_text() for path in PLAYGROUND if path.name != "settings.py")
    used = {name for name in ours if f"settings.{name}" in readers or len(re.findall(rf"\b{name}\b", source)) > 2}
    assert set(ours) - used - set(dir(global_settings)) == set()


def test_every_setting_is_documented() -> None:
    assert len(all_settings()) > 5
    assert all_settings() - set(first_column("docs/settings.md")) == set()


def test_every_documented_setting_is_read() -> None:
    assert set(first_column("docs/settings.md")) - all_settings() - make_variables() == set()


def test_every_variable_of_make_is_documented() -> None:
    internal = {"MAKEFILE_LIST", "INSTALL", "PY", "DENO"}
    assert make_variables() - internal - set(first_column("docs/settings.md")) == set()


def test_every_command_is_documented() -> None:
    documented = [row.split()[0] for row in first_column("docs/commands.md")]
    assert sorted(our_commands()) == sorted(documented)


def test_every_command_that_a_document_names_exists() -> None:
    named = {name for path in DOCUMENTS for name in re.findall(r"manage\.py ([a-z][a-z_]+)", path.read_text())}
    assert named - set(get_commands()) - {"help"} == set()


def test_every_plugin_is_documented() -> None:
    documented = [name for name in first_column("docs/plugins.md") if "/" not in name]
    assert documented == [plugin.name for plugin in ROOMS]


def plugin_rows() -> dict[str, list[str]]:
    """The cells of the table of plugins, by plugin."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", document_text("plugins.md"), re.MULTILINE)
    return {name: cells.split(" | ") for name, cells in rows}


@pytest.mark.parametrize("plugin", ROOMS, ids=lambda plugin: plugin.name)
def test_a_plugins_points_and_arguments_are_documented_as_its_room_has_them(plugin: type[Plugin]) -> None:
    points, _, arguments, _ = plugin_rows()[plugin.name]
    implied = (Point.UNRESERVE, Point.WAIT_ON_PERMIT)
    assert points.split(", ") == [at for at in Point if takes_part(plugin, at) and at not in implied]
    fields = plugin.arguments.fields if plugin.arguments is not None else {}
    assert set(re.findall(r"`(\w+)`", arguments)) == set(fields)


def test_every_annotation_of_the_demonstration_plugin_is_documented() -> None:
    source = (ROOT / "scheduler_core/scheduler/plugins/demonstration.py").read_text()
    annotations = [PREFIX + name for name in re.findall(r'^[A-Z_]+ = PREFIX \+ "([a-z-]+)"', source, re.MULTILINE)]
    assert annotations == [name for name in first_column("docs/plugins.md") if "/" in name]


def test_every_record_kind_is_documented() -> None:
    assert set(KINDS) - set(first_column("docs/trace.md")) == set()


def test_every_kind_of_answer_and_of_fix_has_an_example() -> None:
    assert {*map(str, State), *KINDS_OF_FIXES} - set(first_column("docs/answers.md")) == set()


@pytest.mark.parametrize("table", [kinds, fields], ids=lambda table: table.__name__)
def test_the_trace_shows_kinds_and_fields_as_the_classes_have_them(table: Callable[[], str]) -> None:
    assert f"\n\n{table()}\n\n" in document_text("trace.md")  # `python -m tests.record_tables` writes both


@pytest.mark.parametrize("table", [differences, rules, api_fields, dropped])
def test_the_differences_of_releases_are_shown_as_the_tables_have_them(table: Callable[[], str]) -> None:
    assert f"\n\n{table()}\n\n" in document_text("releases.md")  # `python -m tests.release_tables` writes them


@pytest.mark.parametrize("facts", CLASSES, ids=lambda facts: facts.KIND)
def test_every_field_of_a_record_is_described(facts: type[Facts]) -> None:
    assert [field.name for field in fields_of(facts) if not field.description] == []
    assert description(facts).count(" ") > 1


def test_every_command_and_setting_of_a_world_is_documented() -> None:
    known = {*KINDS_OF_COMMANDS, *WorldSettings.__struct_fields__, *get_args(Call)}
    assert set(first_column("docs/world.md")) == known


def test_every_controller_is_documented() -> None:
    assert set(first_column("docs/cluster.md")) == {controller.name for controller in CONTROLLERS}


def test_settings_that_restart_a_scheduler_are_documented_as_such() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| yes \|", (ROOT / "docs/world.md").read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(READ_AT_START)


def test_every_gate_is_documented_as_the_list_has_it() -> None:
    text = (ROOT / "docs/world.md").read_text()
    rows = re.findall(r"^\| (\w+) \| (GA|Beta|Alpha) \| ((?:locked )?(?:on|off)) \|", text, re.MULTILINE)
    listed = [(g.name, g.stage, f"{'locked ' * g.locked}{'on' if g.default else 'off'}") for g in asked_gates()]
    assert rows == listed


def test_every_metric_is_documented_as_the_catalogue_has_it() -> None:
    rows = re.findall(
        r"^\| `((?:scheduler|leader_election)_\w+)` \| (\w+) \| (\w+) \| (.*?) \|",
        document_text("metrics.md"),
        re.MULTILINE,
    )
    listed = [(name, kind, stability, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, stability, labels in rows]
    assert listed == [(m.name, str(m.kind), m.stability, m.labels) for m in METRICS]


def test_every_former_name_of_a_metric_is_documented_with_what_it_has_become() -> None:
    text = document_text("metrics.md")
    for former in FORMER:
        now = ", ".join(f"`{name}{labels}`" for name, labels in former.now)
        assert f"| `{former.name}` | {now} |" in text


def document_text(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


@pytest.mark.parametrize("table", [actions, phases], ids=lambda table: table.__name__)
def test_the_architecture_shows_the_tables_as_the_code_has_them(table: Callable[[], str]) -> None:
    assert table() in document_text("architecture.md")  # `python -m tests.architecture_tables` prints both


@pytest.mark.parametrize(("package", "chapter"), [("core", "scheduler_core"), ("playground", "playground")])
def test_every_room_is_drawn_in_the_order_of_its_layers(package: str, chapter: str) -> None:
    contracts = (ROOT / ".importlinter").read_text()
    contract = re.search(rf"contract:{package}-layers\]\n(?:.+\n)*?layers =\n((?:    .+\n)+)", contracts)
    assert contract is not None
    layers = [line.replace("|", " ").split() for line in contract[1].splitlines()]
    text = document_text("architecture.md").split(f"## {chapter}\n")[1].split("##")[0]
    rows = [row.split("|")[1] for row in text.splitlines() if re.match(r"\| \w+(/|\.py)", row)]
    drawn = [room for row in rows for room in re.findall(r"(\w+)(?:/|\.py)", row)]
    assert sorted(drawn) == sorted(room for layer in layers for room in layer)
    places = [next(i for i, layer in enumerate(layers) if room in layer) for room in drawn]
    assert places == sorted(places)


def test_every_url_is_documented() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)`", (ROOT / "docs/urls.md").read_text(), flags=re.MULTILINE)
    assert dict(rows) == named_urls(get_resolver().url_patterns)


def test_the_studio_lists_the_same_keys_as_the_document() -> None:
    dialog = (ROOT / "templates/playground/studio/dialogs.html").read_text()
    shown = re.findall(r'<dt>(.*?)</dt>\s*<dd>{% translate "(.*?)" %}', dialog, flags=re.DOTALL)
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", (ROOT / "docs/keys.md").read_text(), flags=re.MULTILINE)
    printed = [(" ".join(re.sub(r"</?kbd>", "`", keys).split()), words) for keys, words in shown]
    assert printed == rows


def test_every_key_that_the_studio_listens_to_is_documented() -> None:
    rows = re.findall(r"^\| (`.*`) \|", (ROOT / "docs/keys.md").read_text(), flags=re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`([^`]+)`", row)}
    assert keys_listened_to() == documented - {"Shift", "Ctrl"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_document_lead_to_files(document: Path) -> None:
    shown = re.sub(r"<!--.*?-->|`[^`]*`", "", document.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", shown)
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_dependency_is_documented() -> None:
    pinned = re.findall(r'^    "([a-z][a-z0-9-]+)', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    rows = re.findall(r"^\| ([a-z0-9-]+) \|", (ROOT / "docs/dependencies.md").read_text(), flags=re.MULTILINE)
    assert len(pinned) > 20
    assert set(pinned) == set(rows) - {"package"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_names_a_path_of_somebodys_machine(document: Path) -> None:
    assert re.findall(r"/(?:home|root|work|Users)/\S*|\.\./shared\S*", document.read_text()) == []


def named_tests() -> list[str]:
    """What docs/security.md names as `tests/….py::test_…`."""
    return re.findall(r"`(tests/[\w/]+\.py::test_\w+)`", document_text("security.md"))


def functions_of(path: Path) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, functions)}


def test_every_test_that_the_threat_model_names_exists() -> None:
    named = [test.split("::") for test in named_tests()]
    assert len(named) > 30
    missing = [(path, name) for path, name in named if name not in functions_of(ROOT / path)]
    assert missing == []


def test_every_threat_is_tried_by_a_test() -> None:
    table = document_text("security.md").split("## What is defended")[1].split("\n## ")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and not row.startswith("| threat")]
    assert len(rows) > 10
    assert [row for row in rows if "::test_" not in row.split("|")[3]] == []


VERSION_HEADING = re.compile(r"^## \[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d{2}-\d{2})$", flags=re.MULTILINE)


def test_the_changelog_is_about_this_version_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    major, minor, patch, _ = VERSION_HEADING.findall(text)[0]
    assert f"{major}.{minor}.{patch}" == VERSION
    newest = re.split(r"^## \[.*\n", text, flags=re.MULTILINE)[1]  # what is not yet released may be of another engine
    assert newest.lstrip().startswith(f"Engine {ENGINE_VERSION}, kube-scheduler {KUBE_VERSION}.")


def test_the_changelog_is_short_enough_to_be_read() -> None:
    """0.1 to 0.6 take at most 120 lines together, none of them longer than a screen is wide."""
    text = (ROOT / "CHANGELOG.md").read_text()
    released = text[text.index("## [0.6.0]") :].splitlines()
    assert len(released) <= 120
    assert [line for line in text.splitlines() if len(line) > 150] == []


def test_the_changelog_has_versions_with_dates_newest_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = [(tuple(map(int, numbers)), date) for *numbers, date in VERSION_HEADING.findall(text)]
    assert len(versions) == text.count("\n## ") - text.count("\n## [Unreleased]\n")
    assert versions == sorted(versions, reverse=True)
    assert len(set(versions)) == len(versions)
