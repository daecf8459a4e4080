"""CONTRIBUTING's recipes: a newcomer is made in a copy of the code by exactly the files that its recipe names, and everybody finds it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from playground.presenters.look import TABS

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "tests/recipes/plugin"
PANEL = ROOT / "tests/recipes/panel"
TAB = ROOT / "tests/recipes/tab"
COPIED = ("scheduler_core", "playground", "templates", "static", "locale", "docs", "scripts", "tests", "examples")


def files_of(recipe: str) -> list[str]:
    """The files that the numbered list under a heading of CONTRIBUTING says to edit."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (section,) = [part for part in text.split("\n## ") if part.startswith(f"{recipe}\n")]
    return re.findall(r"^\d+\. `([^`]+)`", section, flags=re.MULTILINE)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The code and its tests, compiled as they are."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name)
    for file in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy(file, tmp_path)
    return tmp_path


class Checked(NamedTuple):
    """`failed` are the names of tests, `said` is what pytest printed."""

    passed: int
    failed: list[str]
    said: str


def checked(copy: Path, *tests: str) -> Checked:
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, timeout=250)
    passed = re.search(r"(\d+) passed", done.stdout)
    failed = re.findall(r"^(?:FAILED|ERROR) \S+?::(\w+)", done.stdout, flags=re.MULTILINE)
    return Checked(int(passed[1]) if passed else 0, failed, done.stdout + done.stderr)


PLUGIN_FILES = [
    "scheduler_core/scheduler/plugins/<name>.py",
    "scheduler_core/scheduler/plugins/__init__.py",
    "tests/scheduler_core/scheduler/plugins/test_<name>.py",
    "docs/plugins.md",
]
# What looks over all plugins, beside the newcomer's own tests.
OVER_ALL = (
    "tests/scheduler_core/scheduler/plugins/test_lists.py",
    "tests/test_docs.py",
    "tests/test_architecture.py",
    "-k",
    "plugin or room or core",
)


def add_plugin(copy: Path) -> None:
    """CONTRIBUTING's four steps."""
    room, lists, tests, document = (copy / file.replace("<name>", "quiet_nodes") for file in PLUGIN_FILES)
    shutil.copy(PLUGIN / "room.py", room)
    put_behind(lists, "from scheduler_core.scheduler.plugins.priority_sort", IMPORT)
    put_behind(lists, "    SmallestFirstSort,", "    QuietNodes,\n")
    lists.write_text(lists.read_text().replace('"SmallestFirstSort")', '"SmallestFirstSort", "QuietNodes")'))
    shutil.copy(PLUGIN / "checks.py", tests)
    put_behind(document, "| `SmallestFirstSort` |", (PLUGIN / "row.md").read_text())


IMPORT = "from scheduler_core.scheduler.plugins.quiet_nodes import QuietNodes\n"


def put_behind(file: Path, start: str, text: str) -> None:
    """A line more behind the one that starts so."""
    lines = file.read_text().splitlines(keepends=True)
    (place,) = [i for i, line in enumerate(lines) if line.startswith(start)]
    file.write_text("".join([*lines[: place + 1], text, *lines[place + 1 :]]))


def test_a_plugin_needs_exactly_the_files_that_contributing_names(copy: Path) -> None:
    assert files_of("To add a plugin") == PLUGIN_FILES
    add_plugin(copy)
    own = checked(copy, "tests/scheduler_core/scheduler/plugins/test_quiet_nodes.py")
    assert (own.passed, own.failed) == (9, []), own.said
    others = checked(copy, *OVER_ALL)
    assert others.passed > 30, others.said
    assert others.failed == [], others.said


@pytest.mark.parametrize(
    ("forgotten", "missed_by"),
    [
        ("scheduler_core/scheduler/plugins/__init__.py", {"test_every_plugin_is_documented"}),
        (
            "docs/plugins.md",
            {
                "test_every_plugin_is_documented",
                "test_a_plugins_points_and_arguments_are_documented_as_its_room_has_them",
            },
        ),
    ],
)
def test_what_of_a_plugin_is_forgotten_is_missed(copy: Path, forgotten: str, missed_by: set[str]) -> None:
    add_plugin(copy)
    shutil.copy(ROOT / forgotten, copy / forgotten)
    assert set(checked(copy, *OVER_ALL).failed) == missed_by


CONTROLLER = ROOT / "tests/recipes/controller"
CONTROLLER_FILES = [
    "scheduler_core/controllers/<name>.py",
    "scheduler_core/controllers/catalogue.py",
    "docs/cluster.md",
    "tests/scheduler_core/controllers/test_<name>.py",
]
OVER_ALL_CONTROLLERS = (
    "tests/scheduler_core/controllers/test_catalogue.py",
    "tests/test_docs.py",
    "-k",
    "sweeper or catalogue or controller",
)


def add_controller(copy: Path) -> None:
    """CONTRIBUTING's four steps."""
    room, catalogue, document, tests = (copy / file.replace("<name>", "sweeper") for file in CONTROLLER_FILES)
    shutil.copy(CONTROLLER / "room.py", room)
    put_behind(
        catalogue, "from __future__ import annotations", "from scheduler_core.controllers.sweeper import Sweeper\n"
    )
    replace(catalogue, "CONTROLLERS: tuple[Controller, ...] = (", "CONTROLLERS: tuple[Controller, ...] = (Sweeper(), ")
    document.write_text(document.read_text() + "| `sweeper` | Pod | removes pods that ended a minute ago |\n")
    shutil.copy(CONTROLLER / "checks.py", tests)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    file.write_text(text.replace(old, new))


def test_a_controller_needs_exactly_the_files_that_contributing_names(copy: Path) -> None:
    assert files_of("To add a controller") == CONTROLLER_FILES
    add_controller(copy)
    all_of_it = checked(copy, "tests/scheduler_core/controllers/test_sweeper.py", *OVER_ALL_CONTROLLERS)
    assert all_of_it.passed > 6, all_of_it.said
    assert all_of_it.failed == [], all_of_it.said


def test_what_of_a_controller_is_forgotten_is_missed(copy: Path) -> None:
    add_controller(copy)
    shutil.copy(ROOT / "docs/cluster.md", copy / "docs/cluster.md")
    assert set(checked(copy, *OVER_ALL_CONTROLLERS).failed) == {"test_every_controller_is_documented"}


COMMAND = ROOT / "tests/recipes/command"
COMMAND_FILES = [
    "scheduler_core/world/commands.py",
    "scheduler_core/world/simulation/execution.py",
    "playground/presenters/commands.py",
    "tests/scheduler_core/test_simulation.py",
    "docs/world.md",
]
# What looks over all commands, beside the newcomer's own tests.
OVER_ALL_COMMANDS = (
    "tests/scheduler_core/test_simulation.py",
    "tests/playground/presenters/test_commands.py",
    "tests/test_docs.py",
    "tests/test_architecture.py",
    "-k",
    "command or cordon",
)


def add_command(copy: Path) -> None:
    """CONTRIBUTING's five steps."""
    commands, execution, words, tests, document = (copy / file for file in COMMAND_FILES)
    replace(commands, "class Undo(", f"{(COMMAND / 'command.txt').read_text()}\n\nclass Undo(")
    replace(commands, "    | FailCall\n", "    | FailCall\n    | CordonNode\n")
    replace(execution, "    ApplyObjects,\n    Command,", "    ApplyObjects,\n    Command,\n    CordonNode,")
    replace(execution, "def _undo(", f"{(COMMAND / 'executor.txt').read_text()}\n\ndef _undo(")
    replace(execution, "    FailCall: _fail_call,\n", "    FailCall: _fail_call,\n    CordonNode: _cordon,\n")
    sentence = 'lambda data: message(gettext_noop("cordons %(node)s"), node=data.get("node", ""))'
    put_behind(words, '    "FailCall": _fail,', f'    "CordonNode": {sentence},\n')
    put_behind(words, '    "FailCall": gettext_noop(', '    "CordonNode": gettext_noop("a cordon"),\n')
    replace(tests, "    ApplyObjects,\n    DecidePermit,", "    ApplyObjects,\n    CordonNode,\n    DecidePermit,")
    tests.write_text(f"{tests.read_text()}\n\n{(COMMAND / 'checks.txt').read_text()}")
    put_behind(document, "| `FailCall` |", "| `CordonNode` | `node`, `cordoned` | lets no new pod onto a node |\n")


def test_a_command_needs_exactly_the_files_that_contributing_names(copy: Path) -> None:
    assert files_of("To add a command") == COMMAND_FILES
    add_command(copy)
    all_of_it = checked(copy, *OVER_ALL_COMMANDS)
    assert all_of_it.passed > 25, all_of_it.said
    assert all_of_it.failed == [], all_of_it.said


def test_what_of_a_command_is_forgotten_is_missed(copy: Path) -> None:
    add_command(copy)
    for forgotten in ("playground/presenters/commands.py", "docs/world.md"):
        shutil.copy(ROOT / forgotten, copy / forgotten)
    assert set(checked(copy, *OVER_ALL_COMMANDS).failed) == {
        "test_every_command_has_words_of_its_own",
        "test_every_command_and_setting_of_a_world_is_documented",
    }


PAGE_FILES = [
    "playground/features/<name>/__init__.py",
    "playground/features/<name>/query.py",
    "playground/features/<name>/worker.py",
    "playground/features/<name>/views.py",
    "templates/<name>/page.html",
    "playground/urls.py",
    "tests/playground/features/test_<name>.py",
    "docs/urls.md",
]
# What looks over all pages and requests.
OVER_ALL_PAGES = (
    "tests/test_docs.py",
    "tests/playground/sessions/worker/test_process.py",
    "tests/test_architecture.py",
    "-k",
    "waiting or url or handler or messages or template",
)
CREATED = re.compile(r"^Create `([^`]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDED = re.compile(
    r"^In `([^`]+)`, add this line below the one that names `(\w+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL
)
WORDED = re.compile(r'^msgid "(.*)"\nmsgstr "(.+)"$', re.MULTILINE)


def add_page(copy: Path) -> list[str]:
    """Follow docs/tutorial-a-page.md; return the files that it names."""
    text = (copy / "docs/tutorial-a-page.md").read_text()
    for name, body in CREATED.findall(text):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(body)
    for name, below, line in ADDED.findall(text):
        lines = (copy / name).read_text().splitlines()
        (start,) = [each for each in lines if f'name="{below}"' in each or each.startswith(f"| `{below}` |")]
        put_behind(copy / name, start, line)
    return [name for name, *_ in [*CREATED.findall(text), *ADDED.findall(text)]]


def program(copy: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in the copy."""
    command = [str(Path(sys.executable).with_name(name)), *arguments]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, timeout=250)


def test_a_page_needs_exactly_the_files_that_contributing_and_the_tutorial_name(copy: Path) -> None:
    assert files_of("To add a page that asks a world something") == PAGE_FILES
    files = add_page(copy)
    assert sorted(files) == sorted(file.replace("<name>", "waiting") for file in PAGE_FILES)
    found = checked(copy, "tests/playground/features/test_waiting.py", *OVER_ALL_PAGES)
    assert found.passed > 70, found.said
    assert found.failed == [], found.said
    python = [file for file in files if file.endswith(".py")]
    for name, *arguments in (
        ("ruff", "check", *python),
        ("ruff", "format", "--check", *python),
        ("djangofmt", "--check", "templates/waiting"),
    ):
        done = program(copy, name, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_tutorial_has_words_in_chinese_for_each_new_text_of_its_page(copy: Path) -> None:
    add_page(copy)
    words = dict(WORDED.findall((copy / "docs/tutorial-a-page.md").read_text()))
    done = program(copy, "python", "-m", "tests.messages")
    assert done.returncode == 0, done.stderr
    catalog = (copy / "locale/zh_Hans/LC_MESSAGES/django.po").read_text()
    texts = re.findall(r'{% translate "([^"]+)" %}', (copy / "templates/waiting/page.html").read_text())
    assert {text for text in texts if f'msgid "{text}"\nmsgstr ""\n\n' in catalog} == set(words)


def test_what_of_a_page_is_forgotten_is_missed(copy: Path) -> None:
    add_page(copy)
    for file, line in (
        ("docs/urls.md", "| `waiting` |"),
        ("playground/features/waiting/worker.py", "@answers(Waiting)"),
    ):
        lines = (copy / file).read_text().splitlines(keepends=True)
        (copy / file).write_text("".join(each for each in lines if not each.startswith(line)))
    assert set(checked(copy, *OVER_ALL_PAGES).failed) == {
        "test_every_url_is_documented",
        "test_every_request_has_a_handler",
    }


NOT_THEIRS = (
    ("query", "django.http"),
    ("worker", "django.http"),
    ("worker", "playground.views.responses"),
    ("worker", "scheduler_core.world.simulation"),
    ("presenter", "django.http"),
    ("presenter", "playground.sessions.protocol.looking"),
    ("views", "playground.features.waiting.worker"),
)


def test_a_part_of_a_page_that_imports_what_is_not_its_own_breaks_a_contract(copy: Path) -> None:
    add_page(copy)
    (copy / "playground/features/waiting/presenter.py").write_text('"""Words of the page."""\n')
    for part, imported in NOT_THEIRS:
        file = copy / f"playground/features/waiting/{part}.py"
        file.write_text(f"{file.read_text()}\nimport {imported}  # noqa: F401\n")
    done = program(copy, "lint-imports", "--no-cache")
    reported = " ".join(done.stdout.partition("Broken contracts")[2].split())
    for part, imported in NOT_THEIRS:
        there = "django" if imported.startswith("django") else imported
        assert f"playground.features.waiting.{part} -> {there}" in reported, done.stdout


PANEL_FILES = [
    "playground/presenters/<name>.py",
    "templates/panels/<name>.html",
    "playground/presenters/panels.py",
    "templates/playground/studio.html",
    "tests/playground/presenters/test_<name>.py",
]
# What looks over all panels and tabs.
OVER_ALL_PANELS = ("tests/playground/sessions/web/test_views.py", "-k", "census or labels or every_panel or every_tab")


def add_panel(copy: Path) -> None:
    """CONTRIBUTING's five steps."""
    presenter, template, panels, page, tests = (copy / file.replace("<name>", "census") for file in PANEL_FILES)
    shutil.copy(PANEL / "presenter.py", presenter)
    shutil.copy(PANEL / "panel.html", template)
    shutil.copy(PANEL / "card.html", template.with_name("census_card.html"))
    put_behind(panels, "from playground.presenters import (", "    census,\n")
    put_behind(panels, '    "queues": queues.present', '    "census": census.present,\n')
    place = "{{ panels.census }}\n"
    put_behind(page, "    {{ panels.queues }}", place)
    shutil.copy(PANEL / "checks.py", tests)


def test_a_panel_needs_exactly_the_files_that_contributing_names(copy: Path) -> None:
    assert files_of("To add a panel") == PANEL_FILES
    add_panel(copy)
    all_of_it = checked(copy, "tests/playground/presenters/test_census.py", *OVER_ALL_PANELS)
    assert (all_of_it.passed, all_of_it.failed) == (3 + len(TABS), []), all_of_it.said
    shutil.copy(ROOT / "templates/playground/studio.html", copy / "templates/playground/studio.html")
    assert checked(copy, *OVER_ALL_PANELS).failed == ["test_the_studio_shows_every_panel"]


TAB_FILES = [
    "playground/presenters/inspector/<name>.py",
    "templates/panels/inspector_<name>.html",
    "playground/presenters/look.py",
    "tests/playground/presenters/test_<name>.py",
]


def test_a_tab_needs_exactly_the_files_that_contributing_names(copy: Path) -> None:
    assert files_of("To add a tab of the inspector") == TAB_FILES
    presenter, template, tabs, tests = (copy / file.replace("<name>", "labels") for file in TAB_FILES)
    shutil.copy(TAB / "presenter.py", presenter)
    shutil.copy(TAB / "tab.html", template)
    put_behind(tabs, '    "yaml": gettext_noop', '    "labels": gettext_noop("Labels"),\n')
    shutil.copy(TAB / "checks.py", tests)
    all_of_it = checked(copy, "tests/playground/presenters/test_labels.py", *OVER_ALL_PANELS)
    assert (all_of_it.passed, all_of_it.failed) == (2 + len(TABS) + 1, []), all_of_it.said


RECORD = ROOT / "tests/recipes/record_kind"
RECORD_FILES = [
    "scheduler_core/base/trace/kinds.py",
    "scheduler_core/<where>.py",
    "playground/presenters/sentences/kinds.py",
]
OVER_ALL_RECORDS = (
    "tests/scheduler_core/base/trace/test_kinds.py",
    "tests/playground/presenters/test_sentences.py",
    "tests/test_docs.py",
    "-k",
    "record or sentence or trace or kind or line",
)
STOPPED = '''class SchedulerStopped(Facts, frozen=True):
    """A scheduler was taken away."""

    KIND: ClassVar = "scheduler_stopped"
    DECISION: ClassVar = True

    left_behind: Annotated[int, "how many pods were in its queue"]


'''
TOLD = """    Kind(
        SchedulerStopped,
        gettext_noop("Scheduler"),
        lambda stopped: message(gettext_noop("stops and leaves %(n)s pods behind"), n=stopped.left_behind),
        Line(PROCESS, PROCESS, lambda stopped: exactly("stop")),
    ),
"""


def add_record_kind(copy: Path) -> None:
    """CONTRIBUTING's three steps; what is made from the class is written anew."""
    kinds, where, told = (copy / file.replace("<where>", "world/simulation/simulation") for file in RECORD_FILES)
    replace(kinds, "class TimerFired(", f"{STOPPED}class TimerFired(")
    put_behind(kinds, "    SchedulerStarted,", "    SchedulerStopped,\n")
    replace(where, "ObjectChanged, SchedulerStarted", "ObjectChanged, SchedulerStarted, SchedulerStopped")
    put_behind(
        where,
        "        scheduler = self._schedulers.pop(name)",
        "        self.record(SchedulerStopped(len(scheduler.queue.active_pods)), name)\n",
    )
    put_behind(told, "    SchedulerStarted,", "    SchedulerStopped,\n")
    put_behind(told, "RECORD_KINDS: tuple", TOLD)
    subprocess.run([sys.executable, "-m", "tests.record_tables"], cwd=copy, check=True)


def test_a_record_kind_needs_exactly_the_files_that_contributing_names(copy: Path) -> None:
    assert files_of("To add a record kind") == RECORD_FILES
    add_record_kind(copy)
    shutil.copy(RECORD / "checks.py", copy / "tests/scheduler_core/base/trace/test_scheduler_stopped.py")
    found = checked(copy, "tests/scheduler_core/base/trace/test_scheduler_stopped.py", *OVER_ALL_RECORDS)
    assert found.passed > 100, found.said
    assert found.failed == [], found.said


def test_what_of_a_record_kind_is_forgotten_is_missed(copy: Path) -> None:
    add_record_kind(copy)
    for forgotten in ("scheduler_core/world/simulation/simulation.py", RECORD_FILES[2], "docs/trace.md"):
        shutil.copy(ROOT / forgotten, copy / forgotten)
    assert set(checked(copy, *OVER_ALL_RECORDS).failed) == {
        "test_every_kind_is_written_somewhere",
        "test_every_kind_has_one_sentence_and_one_line",
        "test_a_sentence_is_made_of_what_the_class_has",
        "test_every_record_kind_is_documented",
        "test_the_trace_shows_kinds_and_fields_as_the_classes_have_them",
    }
