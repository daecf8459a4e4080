"""CONTRIBUTING's recipes: a newcomer is made in a copy of the code by exactly the files that its recipe names, and everybody finds it.

All newcomers are made in one copy, and one run of pytest tests them: a start of pytest takes longer than most of what it runs. A second
copy lacks a file of each recipe.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, get_type_hints

import pytest

from playground.presenters.look import TABS
from scheduler_core.world.readonly import WorldView

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


class Copy(NamedTuple):
    """The code with newcomers, in `folder`; what tests `passed` and `failed` there, and what pytest `said`."""

    folder: Path
    passed: list[str]
    failed: list[str]
    said: str

    def passes(self, *files: str) -> int:
        """Count the tests of some files that passed; none of them has failed."""
        failed = [test for test in self.failed if test.startswith(files)]
        assert failed == [], self.said
        return sum(test.startswith(files) for test in self.passed)


def copy_code(folder: Path) -> Path:
    """The code and its tests, compiled as they are; recordings and what is only read is the same."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("corpus"))
    (folder / "tests/corpus").symlink_to(ROOT / "tests/corpus")
    for file in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy(file, folder)
    return folder


def check(folder: Path, *tests: str) -> Copy:
    """Run tests in a copy."""
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-rfEp", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=250)
    passed = re.findall(r"^PASSED (.+)$", done.stdout, flags=re.MULTILINE)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return Copy(folder, passed, failed, done.stdout + done.stderr)


def add_all(folder: Path) -> None:
    for add in (add_plugin, add_controller, add_command, add_page, add_panel, add_tab, add_record_kind):
        add(folder)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Every newcomer, by all the files of its recipe."""
    folder = copy_code(tmp_path_factory.mktemp("complete"))
    add_all(folder)
    return check(folder, *NEWCOMERS, *OVER_ALL, *RULES, "-k", NOT_ABOUT_THEM, "--deselect", NOT_MADE)


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Every newcomer, without what people forget."""
    folder = copy_code(tmp_path_factory.mktemp("incomplete"))
    add_all(folder)
    for file in FORGOTTEN:
        shutil.copy(ROOT / file, folder / file)
    worker = folder / "playground/features/waiting/worker.py"
    worker.write_text(worker.read_text().replace("@answers(Waiting)\n", ""))
    return check(folder, *OVER_ALL, "-k", NOT_ABOUT_THEM, "--deselect", NOT_MADE)


# The newcomers' own tests.
NEWCOMERS = (
    "tests/scheduler_core/scheduler/plugins/test_quiet_nodes.py",
    "tests/scheduler_core/controllers/test_sweeper.py",
    "tests/playground/features/test_waiting.py",
    "tests/playground/presenters/test_census.py",
    "tests/playground/presenters/test_labels.py",
    "tests/scheduler_core/base/trace/test_scheduler_stopped.py",
)
STUDIO = "tests/playground/sessions/web/test_views.py"
# What looks over all of a kind.
OVER_ALL = (
    "tests/test_docs.py",
    "tests/scheduler_core/scheduler/plugins/test_lists.py",
    "tests/scheduler_core/controllers/test_catalogue.py",
    "tests/scheduler_core/test_simulation.py",
    "tests/playground/presenters/test_commands.py",
    "tests/playground/sessions/worker/test_process.py",
    "tests/scheduler_core/base/trace/test_kinds.py",
    "tests/playground/presenters/test_sentences.py",
    f"{STUDIO}::test_the_studio_shows_every_panel",
    f"{STUDIO}::test_every_tab_of_the_inspector_has_an_address",
)
RULES = (
    "tests/test_architecture.py::test_the_core_answers_the_same_everywhere",
    "tests/test_architecture.py::test_a_room_imports_no_other_room",
    "tests/test_architecture.py::test_whoever_finds_plugins_in_their_rooms_names_none",
    "tests/test_architecture.py::test_templates_hold_no_inline_code_and_load_nothing_from_elsewhere",
)
# A newcomer changes nothing about these; no world of those tests has the newcomers' command.
NOT_ABOUT_THEM = "not (setting_is or setting_has or documented_setting or threat or changelog or links)"
NOT_MADE = "tests/scheduler_core/base/trace/test_kinds.py::test_what_a_record_says_is_what_its_class_has[command]"
FORGOTTEN = (
    "docs/plugins.md",
    "docs/cluster.md",
    "docs/urls.md",
    "docs/world.md",
    "docs/trace.md",
    "playground/presenters/commands.yaml",
    "templates/playground/studio.html",
    "scheduler_core/world/simulation/simulation.py",
    "playground/presenters/sentences/kinds.py",
)
MISSED = {
    "test_every_plugin_is_documented",
    "test_a_plugins_points_and_arguments_are_documented_as_its_room_has_them",
    "test_every_controller_is_documented",
    "test_every_command_has_words_of_its_own",
    "test_every_command_and_setting_of_a_world_is_documented",
    "test_every_url_is_documented",
    "test_every_request_has_a_handler",
    "test_the_studio_shows_every_panel",
    "test_every_kind_is_written_somewhere",
    "test_every_kind_has_one_sentence_and_one_line",
    "test_a_sentence_is_made_of_what_the_class_has",
    "test_every_record_kind_is_documented",
    "test_the_trace_shows_kinds_and_fields_as_the_classes_have_them",
}


def test_everything_is_green_with_every_newcomer(complete: Copy) -> None:
    assert len(complete.passed) > 400, complete.said
    assert complete.failed == [], complete.said


def test_what_is_forgotten_is_missed(incomplete: Copy) -> None:
    assert {test.split("::")[1].split("[")[0] for test in incomplete.failed} == MISSED, incomplete.said


def test_a_plugin_that_is_on_no_list_is_missed(incomplete: Copy) -> None:
    shutil.copy(ROOT / PLUGIN_FILES[1], incomplete.folder / PLUGIN_FILES[1])
    put_behind(incomplete.folder / PLUGIN_FILES[3], "| `SmallestFirstSort` |", (PLUGIN / "row.md").read_text())
    found = check(incomplete.folder, "tests/test_docs.py", "-k", "plugin")
    assert found.failed == ["tests/test_docs.py::test_every_plugin_is_documented"], found.said


PLUGIN_FILES = [
    "scheduler_core/scheduler/plugins/<name>.py",
    "scheduler_core/scheduler/plugins/__init__.py",
    "tests/scheduler_core/scheduler/plugins/test_<name>.py",
    "docs/plugins.md",
]


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


def test_a_plugin_needs_exactly_the_files_that_contributing_names(complete: Copy) -> None:
    assert files_of("To add a plugin") == PLUGIN_FILES
    assert complete.passes("tests/scheduler_core/scheduler/plugins/test_quiet_nodes.py") == 9


CONTROLLER = ROOT / "tests/recipes/controller"
CONTROLLER_FILES = [
    "scheduler_core/controllers/<name>.py",
    "scheduler_core/controllers/catalogue.py",
    "docs/cluster.md",
    "tests/scheduler_core/controllers/test_<name>.py",
]


SWEEPER = "from scheduler_core.controllers.sweeper import Sweeper\n"


def add_controller(copy: Path) -> None:
    """CONTRIBUTING's four steps."""
    room, catalogue, document, tests = (copy / file.replace("<name>", "sweeper") for file in CONTROLLER_FILES)
    shutil.copy(CONTROLLER / "room.py", room)
    put_behind(catalogue, "from scheduler_core.controllers.quota", SWEEPER)
    replace(catalogue, "CONTROLLERS: tuple[Controller, ...] = (", "CONTROLLERS: tuple[Controller, ...] = (Sweeper(), ")
    document.write_text(document.read_text() + "| `sweeper` | Pod | removes pods that ended a minute ago |\n")
    shutil.copy(CONTROLLER / "checks.py", tests)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    file.write_text(text.replace(old, new))


def test_a_controller_needs_exactly_the_files_that_contributing_names(complete: Copy) -> None:
    assert files_of("To add a controller") == CONTROLLER_FILES
    assert complete.passes("tests/scheduler_core/controllers/test_sweeper.py") > 0


COMMAND = ROOT / "tests/recipes/command"
COMMAND_FILES = [
    "scheduler_core/world/commands.py",
    "scheduler_core/world/simulation/execution.py",
    "playground/presenters/commands.yaml",
    "tests/scheduler_core/test_simulation.py",
    "docs/world.md",
]


def add_command(copy: Path) -> None:
    """CONTRIBUTING's five steps."""
    commands, execution, words, tests, document = (copy / file for file in COMMAND_FILES)
    replace(commands, "class Undo(", f"{(COMMAND / 'command.txt').read_text()}\n\nclass Undo(")
    replace(commands, "    | FailCall\n", "    | FailCall\n    | CordonNode\n")
    replace(execution, "def _put_back(", f"{(COMMAND / 'executor.txt').read_text()}\n\ndef _put_back(")
    fault = "    commands.FailCall: _fail_call,\n"
    replace(execution, fault, f"{fault}    commands.CordonNode: _cordon,\n")
    put_behind(words, "sentences:", "  CordonNode: cordons %(node)s\n")
    put_behind(words, "omitted:", "  CordonNode: a cordon\n")
    replace(tests, "    ApplyObjects,\n    DecidePermit,", "    ApplyObjects,\n    CordonNode,\n    DecidePermit,")
    tests.write_text(f"{tests.read_text()}\n\n{(COMMAND / 'checks.txt').read_text()}")
    put_behind(document, "| `FailCall` |", "| `CordonNode` | `node`, `cordoned` | lets no new pod onto a node |\n")


def test_a_command_needs_exactly_the_files_that_contributing_names(complete: Copy) -> None:
    assert files_of("To add a command") == COMMAND_FILES
    assert any("cordon" in test.lower() for test in complete.passed), complete.said


PAGE_FILES = [
    "playground/features/<name>/__init__.py",
    "playground/features/<name>/query.py",
    "playground/features/<name>/worker.py",
    "playground/features/<name>/views.py",
    "templates/<name>/page.html",
    "playground/urls.py",
    "playground/templatetags/places.py",
    "tests/playground/features/test_<name>.py",
    "docs/urls.md",
]
CREATED = re.compile(r"^Create `([^`]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDED = re.compile(
    r"^In `([^`]+)`, add this line below the one that names `(\w+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL
)
WORDED = re.compile(r'^msgid "(.*)"\nmsgstr "(.+)"$', re.MULTILINE)


def add_page(copy: Path) -> None:
    """Follow docs/tutorial-a-page.md."""
    text = (copy / "docs/tutorial-a-page.md").read_text()
    for name, body in CREATED.findall(text):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(body)
    for name, below, line in ADDED.findall(text):
        lines = (copy / name).read_text().splitlines()
        marks = (f'name="{below}"', f"| `{below}` |", f' Room("{below}",')
        (start,) = [each for each in lines if any(mark in each for mark in marks)]
        put_behind(copy / name, start, line)


def program(copy: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in the copy."""
    command = [str(Path(sys.executable).with_name(name)), *arguments]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, timeout=250)


def test_a_page_needs_exactly_the_files_that_contributing_and_the_tutorial_name(complete: Copy) -> None:
    assert files_of("To add a page that asks a world something") == PAGE_FILES
    text = (ROOT / "docs/tutorial-a-page.md").read_text()
    files = [name for name, *_ in [*CREATED.findall(text), *ADDED.findall(text)]]
    assert sorted(files) == sorted(file.replace("<name>", "waiting") for file in PAGE_FILES)
    assert complete.passes("tests/playground/features/test_waiting.py") > 0
    python = [file for file in files if file.endswith(".py")]
    for name, *arguments in (
        ("ruff", "check", *python),
        ("ruff", "format", "--check", *python),
        ("djangofmt", "--check", "templates/waiting"),
    ):
        done = program(complete.folder, name, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_tutorial_reads_of_a_world_only_what_its_views_have() -> None:
    read = re.findall(r"(?<![\w.])world\.(\w+)\.(\w+)", (ROOT / "docs/tutorial-a-page.md").read_text())
    assert {("store", "pods"), ("store", "nodes"), ("journal", "attempts_of")} <= set(read)
    views = {part: get_type_hints(getattr(WorldView, part).fget)["return"] for part, _ in read}
    assert [(part, name) for part, name in read if not hasattr(views[part], name)] == []


def test_the_tutorial_has_words_in_chinese_for_each_new_text_of_its_page(complete: Copy) -> None:
    words = dict(WORDED.findall((ROOT / "docs/tutorial-a-page.md").read_text()))
    done = program(complete.folder, "python", "-m", "tests.messages")
    assert done.returncode == 0, done.stderr
    catalog = (complete.folder / "locale/zh_Hans/LC_MESSAGES/django.po").read_text()
    texts = re.findall(r'{% translate "([^"]+)" %}', (complete.folder / "templates/waiting/page.html").read_text())
    assert {text for text in texts if f'msgid "{text}"\nmsgstr ""\n\n' in catalog} == set(words)


NOT_THEIRS = (
    ("query", "django.http"),
    ("worker", "django.http"),
    ("worker", "playground.views.responses"),
    ("worker", "scheduler_core.world.simulation"),
    ("presenter", "django.http"),
    ("presenter", "playground.sessions.web.client"),
    ("views", "playground.features.waiting.worker"),
)


def test_a_part_of_a_page_that_imports_what_is_not_its_own_breaks_a_contract(tmp_path: Path) -> None:
    copy = copy_code(tmp_path)
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


def add_panel(copy: Path) -> None:
    """CONTRIBUTING's five steps."""
    presenter, template, panels, page, tests = (copy / file.replace("<name>", "census") for file in PANEL_FILES)
    shutil.copy(PANEL / "presenter.py", presenter)
    shutil.copy(PANEL / "panel.html", template)
    shutil.copy(PANEL / "card.html", template.with_name("census_card.html"))
    replace(panels, "from playground.presenters import ", "from playground.presenters import census, ")
    put_behind(panels, '    "queues": queues.present', '    "census": census.present,\n')
    place = "{{ panels.census }}\n"
    put_behind(page, "    {{ panels.queues }}", place)
    shutil.copy(PANEL / "checks.py", tests)


def test_a_panel_needs_exactly_the_files_that_contributing_names(complete: Copy) -> None:
    assert files_of("To add a panel") == PANEL_FILES
    assert complete.passes("tests/playground/presenters/test_census.py") == 2
    assert complete.passes(f"{STUDIO}::test_the_studio_shows_every_panel") == 1


TAB_FILES = [
    "playground/presenters/inspector/<name>.py",
    "templates/panels/inspector_<name>.html",
    "playground/presenters/look.py",
    "tests/playground/presenters/test_<name>.py",
]


def add_tab(copy: Path) -> None:
    """CONTRIBUTING's four steps."""
    presenter, template, tabs, tests = (copy / file.replace("<name>", "labels") for file in TAB_FILES)
    shutil.copy(TAB / "presenter.py", presenter)
    shutil.copy(TAB / "tab.html", template)
    put_behind(tabs, '    "yaml": gettext_noop', '    "labels": gettext_noop("Labels"),\n')
    shutil.copy(TAB / "checks.py", tests)


def test_a_tab_needs_exactly_the_files_that_contributing_names(complete: Copy) -> None:
    assert files_of("To add a tab of the inspector") == TAB_FILES
    assert complete.passes("tests/playground/presenters/test_labels.py") == 1
    assert complete.passes(f"{STUDIO}::test_every_tab_of_the_inspector_has_an_address") == len(TABS) + 1


RECORD = ROOT / "tests/recipes/record_kind"
RECORD_FILES = [
    "scheduler_core/base/trace/kinds.py",
    "scheduler_core/<where>.py",
    "playground/presenters/sentences/kinds.py",
]
STOPPED = '''class SchedulerStopped(Facts, frozen=True):
    """A scheduler was taken away."""

    KIND: ClassVar = "scheduler_stopped"
    DECISION: ClassVar = True

    left_behind: Annotated[int, "how many pods were in its queue"]


'''
TOLD = """    Kind(
        trace.SchedulerStopped,
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
    put_behind(where, "    SchedulerStarted,", "    SchedulerStopped,\n")
    put_behind(
        where,
        "        scheduler = self._schedulers.pop(name)",
        "        self.record(SchedulerStopped(len(scheduler.queue.active_pods)), name)\n",
    )
    put_behind(told, "RECORD_KINDS: tuple", TOLD)
    subprocess.run([sys.executable, "-m", "tests.record_tables"], cwd=copy, check=True)
    shutil.copy(RECORD / "checks.py", copy / "tests/scheduler_core/base/trace/test_scheduler_stopped.py")


def test_a_record_kind_needs_exactly_the_files_that_contributing_names(complete: Copy) -> None:
    assert files_of("To add a record kind") == RECORD_FILES
    assert complete.passes("tests/scheduler_core/base/trace/test_scheduler_stopped.py") > 0
