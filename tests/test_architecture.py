"""The rules that imports alone cannot show (.importlinter holds those): determinism, pages without inline code."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings
from django.db.migrations.loader import MigrationLoader

from scheduler_core.scheduler import plugins
from scheduler_core.scheduler.framework.plugin import METHODS
from scripts import draw_map

ROOT = Path(__file__).resolve().parents[1]
CORE = sorted((ROOT / "scheduler_core").rglob("*.py"))
PLAYGROUND = sorted((ROOT / "playground").rglob("*.py"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
OWN_STATIC = sorted(path for path in (ROOT / "static/playground").rglob("*") if path.suffix in (".js", ".css", ".svg"))

Rule = Callable[[ast.Module], Iterator[str]]

# Whatever answers differently on another machine, in another process or at another time.
CLOCKS_AND_DICE = re.compile(
    r"(datetime\.)?(datetime|date)\.(now|utcnow|today)|time\.\w+|random\.\w+|(np|numpy)\.random(\.\w+)?|secrets\.\w+"
    r"|uuid\.\w+|os\.(urandom|environ(\.\w+)?|getenv|getpid|times)"
)
DANGEROUS_CALLS = ("eval", "exec", "compile", "__import__")
DANGEROUS_MODULES = ("pickle", "marshal", "shelve", "dill")
# What reads, compares or writes a text of any length: the worker's work, whatever is typed in. The builder shows a form's few fields.
WEB = [
    path
    for path in PLAYGROUND
    if {"views", "views.py", "forms", "web", "database", "consumers.py"} & {*path.relative_to(ROOT).parts}
]
LENGTHY_MODULES = ("yaml", "difflib")
LENGTHY_CALLS = ("load_manifests", "load_configuration")
# What the profile in tests/conftest.py says for every test by hypothesis.
PROFILES_OWN = ("deadline", "derandomize", "database", "suppress_health_check")
# The formatters break lines at 110 and 120, but not within a text or an attribute's value.
LONGEST_LINE = 180
# Iterating a set yields an order that PYTHONHASHSEED decides, unless what is built has no order itself.
ORDER_MAKERS = ("list", "tuple", "enumerate", "zip", "map", "iter", "next", "dict.fromkeys", "np.array")


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def name_of(node: ast.expr) -> str:
    """`a.b.c` of an attribute chain, `a` of a name, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = name_of(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def is_set(node: ast.expr) -> bool:
    """Whether an expression is a set at first sight: a literal, a comprehension, set(...) or frozenset(...)."""
    made = isinstance(node, ast.Call) and name_of(node.func) in ("set", "frozenset")
    return made or isinstance(node, ast.Set | ast.SetComp)


def clocks_and_dice(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and CLOCKS_AND_DICE.fullmatch(name_of(node.func)):
            yield f"line {node.lineno}: {name_of(node.func)}()"


def hashes(tree: ast.Module) -> Iterator[str]:
    """Calls of hash(), whose value differs between processes; in a class's own __hash__ it is what hash() is for."""
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__hash__"]
    allowed = [node for method in methods for node in ast.walk(method)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) == "hash" and node not in allowed:
            yield f"line {node.lineno}: hash()"


def iterated_sets(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and is_set(node.iter):
            yield f"line {node.iter.lineno}: iterates a set"
        if isinstance(node, ast.Call) and name_of(node.func) in ORDER_MAKERS and any(map(is_set, node.args)):
            yield f"line {node.lineno}: {name_of(node.func)}() of a set"


def dangerous_code(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in DANGEROUS_CALLS:
            yield f"line {node.lineno}: {name_of(node.func)}()"
        imported = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (f"line {node.lineno}: imports {name}" for name in imported if name in DANGEROUS_MODULES)


def own_deadlines(tree: ast.Module) -> Iterator[str]:
    """A test by hypothesis that decides for itself what its profile decides, such as a deadline on the wall clock."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in ("settings", "hypothesis.settings"):
            taken = [word.arg for word in node.keywords if word.arg in PROFILES_OWN]
            yield from (f"line {node.lineno}: {word}" for word in taken)


def breaches(paths: list[Path], *rules: Rule) -> list[str]:
    """Where files break a rule: `file line N: what`."""
    assert paths, "no file to check"
    trees = ((path, ast.parse(path.read_text())) for path in paths)
    return [f"{relative(path)} {breach}" for path, tree in trees for rule in rules for breach in rule(tree)]


def test_the_core_answers_the_same_everywhere() -> None:
    assert breaches(CORE, clocks_and_dice, hashes, iterated_sets, dangerous_code) == []


ROOMS = ROOT / "scheduler_core/scheduler/plugins"
SHARED = ("__init__", "cel", "helper", "installed", "registry")  # of scheduler_core/scheduler/plugins, no rooms


def room_of(path: Path) -> str:
    return path.relative_to(ROOMS).parts[0].removesuffix(".py")


def other_rooms(path: Path) -> list[str]:
    """The rooms but its own that a module of a room imports."""
    imported = [
        node.module or ""
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scheduler_core.scheduler.plugins.")
    ]
    rooms = [module.split(".")[3] for module in imported]
    return [room for room in rooms if room not in ("helper", room_of(path))]


def test_a_room_imports_no_other_room() -> None:
    modules = [path for path in sorted(ROOMS.rglob("*.py")) if room_of(path) not in SHARED]
    assert len(modules) > 30
    assert {relative(path): found for path in modules if (found := other_rooms(path))} == {}


# What finds everything of a plugin in its room, and so names none.
FINDERS = (
    "scheduler_core/scheduler/config",
    "scheduler_core/analysis/fixes",
    "scheduler_core/world/checkpoint",
    "playground/presenters/inspector",
)


def plugin_names(tree: ast.Module) -> Iterator[str]:
    names = {plugin.name for plugin in plugins.ROOMS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in names:
            yield f"line {node.lineno}: {node.value}"


def test_whoever_finds_plugins_in_their_rooms_names_none() -> None:
    finders = [path for folder in FINDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert breaches(finders, plugin_names) == []


# Who compares releases as numbers: the table of differences, and Pod Security, whose levels have versions that people write.
COMPARERS = ("scheduler_core/base/releases.py", "scheduler_core/apiserver/admission/plugins/pod_security.py")
BY_NUMBER = ("pick", "has_reached", "minor_of")


def versions_compared(tree: ast.Module) -> Iterator[str]:
    """Versions that are written out and compared, looked up, or asked for by number, and releases in their order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Dict):
            asked: list[ast.expr | None] = (
                [*node.keys] if isinstance(node, ast.Dict) else [node.left, *node.comparators]
            )
        elif isinstance(node, ast.Call) and name_of(node.func).rpartition(".")[2] in BY_NUMBER:
            asked = [*node.args]
            if name_of(node.func) == "minor_of":
                yield f"line {node.lineno}: {name_of(node.func)}"
        else:
            asked = []
        if isinstance(node, ast.Attribute) and name_of(node) == "RELEASES.index":
            yield f"line {node.lineno}: RELEASES.index"
        for each in asked:
            if isinstance(each, ast.Constant) and re.fullmatch(r"v?1\.3\d(\.\d+)?", str(each.value)):
                yield f"line {each.lineno}: {each.value}"


def test_only_the_table_of_differences_compares_releases() -> None:
    files = [path for path in (*CORE, *PLAYGROUND) if relative(path) not in COMPARERS]
    assert breaches(files, versions_compared) == []
    assert list(versions_compared(ast.parse('pick({"1.35": True}, release)'))) == ["line 1: 1.35"]


RUNTIME = ROOT / "scheduler_core/scheduler/framework/runtime"
# What else has methods of these names is told apart by what it is called on.
SHARED_NAMES = ("adjust", "bind", "filter", "reserve", "sort_key")
POINT_METHODS = (*METHODS.values(), "will_pre_bind", "adjust")
STEPS_AND_RECORDS = ("PluginStep", "StepFacts", "PluginRan", "PointStarted")
STEP_KINDS = ("plugin_ran", "point_started")


def is_a_plugin(node: ast.expr) -> bool:
    """Whether an expression is a plugin at first sight: something called so, or one of several."""
    return "plugin" in name_of(node).rpartition(".")[2] or isinstance(node, ast.Subscript)


def plugins_run(tree: ast.Module) -> Iterator[str]:
    """What the runtime alone does: plugins called at a point, steps made, their records written. A plugin may call its own methods."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in POINT_METHODS:
            owner, method = node.func.value, node.func.attr
            own = name_of(owner) in ("self", "points") or ast.unparse(owner) == "super()"
            if not own and (method not in SHARED_NAMES or is_a_plugin(owner)):
                yield f"line {node.lineno}: calls {ast.unparse(node.func)}()"
        if name.rpartition(".")[2] in STEPS_AND_RECORDS:
            yield f"line {node.lineno}: makes a {name}"
        if name.rpartition(".")[2] in ("record", "write"):
            kinds = [a.value for a in node.args if isinstance(a, ast.Constant) and a.value in STEP_KINDS]
            yield from (f"line {node.lineno}: writes {kind}" for kind in kinds)


def test_the_runtime_alone_runs_plugins_and_makes_their_steps_and_records() -> None:
    others = [path for path in CORE + PLAYGROUND if RUNTIME not in path.parents]
    assert breaches(others, plugins_run) == []
    assert len(breaches(sorted(RUNTIME.glob("*.py")), plugins_run)) > len(POINT_METHODS)


# The search writes what Filter says of each row; a digest takes in the bytes as they are.
VERDICT_ROOMS = (
    ROOT / "scheduler_core/scheduler/framework",
    ROOT / "scheduler_core/scheduler/core/algorithm/search.py",
    ROOT / "scheduler_core/scheduler/core/cycles/scheduling_cycle.py",
    ROOT / "scheduler_core/formats/export/traces.py",
)


def verdicts_decoded(tree: ast.Module) -> Iterator[str]:
    """The arrays of verdicts, which Verdicts and NodeToStatus alone read."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        of_verdicts = name_of(node.value).rpartition(".")[2] == "verdicts"
        if node.attr == "refused_by" or (of_verdicts and node.attr in ("reason", "statuses")):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def test_verdicts_are_decoded_in_one_place() -> None:
    rooms = [path for path in VERDICT_ROOMS if path.is_dir()]
    others = [path for path in CORE + PLAYGROUND if path not in VERDICT_ROOMS and not {*rooms} & {*path.parents}]
    assert breaches(others, verdicts_decoded) == []


def lengthy_work(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = node.module if isinstance(node, ast.ImportFrom) else None
        for name in names:
            if (module or name).partition(".")[0] in LENGTHY_MODULES or name in LENGTHY_CALLS:
                yield f"line {node.lineno}: {name}"


def test_the_web_process_reads_no_text_at_length() -> None:
    assert breaches(WEB, lengthy_work) == []


def test_the_playground_evaluates_no_code_from_outside() -> None:
    assert breaches(PLAYGROUND, dangerous_code) == []


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("from datetime import datetime\nx = datetime.now()", clocks_and_dice),
        ("import datetime\nx = datetime.datetime.now()", clocks_and_dice),
        ("x = time.monotonic_ns()", clocks_and_dice),
        ("x = np.random.default_rng()", clocks_and_dice),
        ("x = sorted(y, key=lambda v: hash(v))", hashes),
        ("for x in set(y):\n    z(x)", iterated_sets),
        ('x = {"NodePorts": 1}', plugin_names),
        ("x = cycle.refused_by >= 0", verdicts_decoded),
        ("x = step.verdicts.statuses[0]", verdicts_decoded),
        ("plugin.pre_filter(state, pod, nodes)", plugins_run),
        ("x = mine.post_bind(state, pod, node)", plugins_run),
        ("x = plugin.filter(state, pod, nodes, rows)", plugins_run),
        ("x = framework.at(point)[0].sort_key(pod, 0)", plugins_run),
        ("x = step.PluginStep(Point.FILTER, name)", plugins_run),
        ('world.record("plugin_ran", data)', plugins_run),
        ("x = [y for y in {1, 2}]", iterated_sets),
        ("x = list({y for y in z})", iterated_sets),
        ("import yaml", lengthy_work),
        ("from difflib import SequenceMatcher", lengthy_work),
        ("from scheduler_core.world.readonly import load_manifests", lengthy_work),
        ("x = eval(y)", dangerous_code),
        ("from pickle import loads", dangerous_code),
        ("@settings(max_examples=5, deadline=200)\ndef f():\n    pass", own_deadlines),
    ],
)
def test_the_rules_catch_what_they_forbid(code: str, rule: Rule) -> None:
    assert len(list(rule(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "store.bind(key, uid, node, now)",
        "self.filter(state, pod, nodes, rows)",
        "super().pre_filter(state, pod, nodes)",
        "Session.objects.filter(pk=1)",
        "filters.adjust(state, pod, view, changes)",
    ],
)
def test_what_only_has_the_name_of_a_point_may_be_called(code: str) -> None:
    assert list(plugins_run(ast.parse(code))) == []


def test_tests_by_hypothesis_leave_to_the_profile_what_a_busy_machine_could_break() -> None:
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if path.name != Path(__file__).name]
    assert breaches(tests, own_deadlines) == []
    assert hypothesis.settings.default.deadline is None


def test_a_class_may_hash_itself() -> None:
    assert list(hashes(ast.parse("class A:\n    def __hash__(self):\n        return hash(self.x)"))) == []


# Bars may set their own length where the policy lets them; style elements stay forbidden either way.
STYLE_ATTRIBUTES = "'unsafe-inline'" in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"].get("style-src-attr", [])


class InlineCode(HTMLParser):
    """Collects what a strict Content Security Policy would block, and what would be fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        where = f"line {self.getpos()[0]}: <{tag}>"
        if tag == "script" and "src" not in values and values.get("type") != "application/json":
            self.found.append(f"{where} without src")
        if tag == "style":
            self.found.append(where)
        for name, value in values.items():
            if name.startswith(("on", "hx-on", "data-hx-on")) or (name == "style" and not STYLE_ATTRIBUTES):
                self.found.append(f"{where} {name}=")
            if name.startswith("hx-") and value.lstrip().startswith(("js:", "javascript:")):
                self.found.append(f"{where} {name}= runs code")
            link_out = tag == "a" and name == "href"
            if re.match(r"\s*(https?:)?//", value) and not link_out and not name.startswith("xmlns"):
                self.found.append(f"{where} {name}= goes to another host")


def inline_code(html: str) -> list[str]:
    # Template tags may hold quotes and `<`; what they print is escaped by Django.
    parser = InlineCode()
    parser.feed(re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", "", html))
    return parser.found


def test_templates_hold_no_inline_code_and_load_nothing_from_elsewhere() -> None:
    assert [f"{relative(path)} {found}" for path in TEMPLATES for found in inline_code(path.read_text())] == []


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<p onclick='x()'>",
        "<style>p {}</style>",
        "<p hx-on:click='x()'>",
        "<p hx-vals='js:{a: 1}'>",
        "<script src='https://cdn.example/x.js'></script>",
        "<img src='//cdn.example/x.png'>",
    ],
)
def test_the_template_rule_catches_what_it_forbids(html: str) -> None:
    assert len(inline_code(html)) == 1


def elsewhere_or_evaluated(source: str) -> list[str]:
    """What a script or style sheet of ours would load from another host or run as code."""
    # Only /* */ spans lines; a // comment ends with its line. Namespace names are no addresses.
    source = re.sub(r"^\s*//.*$", "", re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL), flags=re.MULTILINE)
    source = source.replace("http://www.w3.org/", "")
    return re.findall(r"https?://\S+|url\(['\"]?//\S+|\beval\(|new Function\(|\bdocument\.write\(", source)


def test_our_own_static_files_load_nothing_from_elsewhere_and_evaluate_nothing() -> None:
    assert [f"{relative(path)}: {f}" for path in OWN_STATIC for f in elsewhere_or_evaluated(path.read_text())] == []


@pytest.mark.parametrize(
    "source", ["import 'https://cdn.example/x.js'", "x = eval(y)", "p { background: url(//cdn.example/x) }"]
)
def test_the_static_rule_catches_what_it_forbids(source: str) -> None:
    assert len(elsewhere_or_evaluated(f"/* fine */\n// fine\n{source}")) == 1


def test_no_line_of_a_template_a_style_sheet_or_a_script_is_too_long_to_read() -> None:
    files = [*TEMPLATES, *(path for path in OWN_STATIC if path.suffix != ".svg")]
    lines = ((file, i, line) for file in files for i, line in enumerate(file.read_text().splitlines(), 1))
    assert [f"{relative(file)}:{i}" for file, i, line in lines if len(line) > LONGEST_LINE] == []


def test_scripts_run_only_from_our_own_host() -> None:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert list(directives.get("script-src", directives["default-src"])) == ["'self'"]


def test_every_python_folder_is_a_package() -> None:
    folders = {path.parent for path in CORE + PLAYGROUND}
    assert sorted(relative(folder) for folder in folders if not (folder / "__init__.py").exists()) == []


def test_the_migrations_are_one_line() -> None:
    """Two that were made side by side have to be put one behind the other."""
    loader = MigrationLoader(None)
    assert [name for app, name in loader.graph.leaf_nodes() if app == "playground"] == [
        sorted(name for app, name in loader.disk_migrations if app == "playground")[-1]
    ]


MOST_MODULES = 20  # of a folder, its __init__ included
GROWING = {"scheduler_core/scheduler/plugins"}  # each room is one of kube's


def test_no_folder_holds_more_modules_than_a_reader_can_hold() -> None:
    folders = Counter(relative(path.parent) for path in (*CORE, *PLAYGROUND))
    assert len(folders) > 50
    assert {f: n for f, n in folders.items() if n > MOST_MODULES and f not in GROWING} == {}


def words_not_used() -> set[str]:
    """The words in backticks of the glossary's last table."""
    table = (ROOT / "docs/glossary.md").read_text().split("## Words that are not used")[1]
    return {word for cell in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for word in re.findall(r"`(\w+)`", cell)}


def names_in(tree: ast.Module) -> Iterator[str]:
    """What the code gives names to: classes, functions, arguments, variables, attributes."""
    for node in ast.walk(tree):
        for field in ("name", "id", "arg", "attr"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def parts(name: str) -> list[str]:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")


def test_names_use_no_word_that_the_glossary_has_another_for() -> None:
    words = words_not_used()
    assert len(words) > 10
    used = {
        f"{relative(path)}: {name}"
        for path in (*CORE, *PLAYGROUND)
        for name in names_in(ast.parse(path.read_text()))
        if words & set(parts(name))
    }
    assert used == set()


@pytest.mark.parametrize("line", [r"^Manifest = ", r"^class World\b"])
def test_one_name_has_one_meaning(line: str) -> None:
    defined = [
        relative(path) for path in (*CORE, *PLAYGROUND) for _ in re.findall(line, path.read_text(), re.MULTILINE)
    ]
    assert len(defined) == 1, defined


def test_nobody_reaches_the_world_behind_a_view_but_for_an_analysis() -> None:
    """`WorldView.itself` is for scheduler_core.analysis; a lesson's facts hand it on to one."""
    reached = {str(path.relative_to(ROOT)) for path in PLAYGROUND if re.search(r"\.itself\b", path.read_text())}
    assert reached == {"playground/lessons/facts.py"}


def test_the_picture_of_the_map_shows_the_imports() -> None:
    """`python -m scripts.draw_map` draws it."""
    assert draw_map.PICTURE.read_text() == draw_map.draw()


def test_the_picture_leaves_out_what_other_imports_imply() -> None:
    a, b, c = ("playground", "a"), ("playground", "b"), ("playground", "c")
    assert draw_map.reduce_imports({a: {b, c}, b: {c}, c: set()}) == {a: {b}, b: {c}, c: set()}
