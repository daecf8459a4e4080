"""Plain English, measured: how docstrings begin, how functions are named, how often a comment says why, and on-screen words.

The ceilings only fall, and the floor only rises.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.messages import extract_texts, list_sources, list_strings, read

ROOT = Path(__file__).resolve().parents[1]
RELATIVE = frozenset(
    [
        "What",
        "Where",
        "Of",
        "How",
        "Whether",
        "Who",
        "Whose",
        "That",
        "Which",
        "When",
        "Why",
        "As",
        "From",
        "With",
        "For",
        "In",
        "On",
        "To",
        "By",
        "Those",
    ]
)
IRREGULAR = frozenset(
    [
        "said",
        "told",
        "kept",
        "made",
        "found",
        "given",
        "taken",
        "seen",
        "known",
        "written",
        "held",
        "left",
        "gone",
        "brought",
        "built",
        "shown",
        "drawn",
        "sent",
        "heard",
        "meant",
        "begun",
        "done",
        "thrown",
        "worn",
        "spread",
        "won",
        "lost",
        "bound",
        "sought",
        "grown",
    ]
)
NO_PARTICIPLES = ("need", "embed", "seed")
MOST_RELATIVE = 0.0035  # the share of docstrings that begin with a relative word or a preposition
MOST_PARTICIPLES = 0.0173  # the share of functions, without properties, that are named by a participle
# Words of on-screen texts that hide the actor or take things for people. Quotations of kube are no messages.
STILTED = re.compile(
    r"\b(nobody|whoever|whom|anew|at hand|is told|are told|was told|were told|stands|comes|came"
    r"|goes on|go on|as ever|in all|by himself|has got|any more|of old|is led|is drawn|asks? for|asked for"
    r"|just now|please|looked at|has to|have to)\b",
    re.IGNORECASE,
)
# The same in texts outside of lessons: pods and nodes that go, rest, and let others pass.
STILTED_BESIDES = re.compile(
    r"\b(can go|could go|nodes? to go|left at the door|kept nowhere|may as well|come to rest|gets? a place|lets? \w+ pass"
    r"|at a terminal|made for|made by|ends? elsewhere|under way|goes to|went to|moves on|taken back|gets? the node|finds? no node"
    r"|by itself|once more|would be drawn|in vain|as it should be|if you like|let in|they part|that suits?|drops? out"
    r"|decided alike|thrown away|told to|called off|is meant for|sent back|goes back into|promised)\b",
    re.IGNORECASE,
)
MOST_STILTED_LESSONS = 0
# Words of texts outside of lessons for which the Kubernetes documentation has others: manually, not accessible, returns, matches.
COLLOQUIAL = re.compile(
    r"\b(by hand|out of reach|goes? back|would do|for ever|(has|have) gone|(earlier|last|next) try|clock on the wall|gets nowhere"
    r"|suits?|has been silent|makes? no further|may not|must not (give|be)|knows no|lets? it go|open the way)\b",
    re.IGNORECASE,
)
# Words that the engine's own notes must not have; its other texts are kube's.
OF_NOTES = re.compile(
    r"\b(nobody|whoever|whom|anew|at hand|(is|are) told|told to|stands|stood|any more|asks? for|asked for|called off|for ever"
    r"|says? nothing|(is|has) gone|the like|at once|it comes|goes)\b",
    re.IGNORECASE,
)
MOST_WORDS = 25  # in a sentence
SENTENCE = re.compile(r"(?<=[.?!])\s+")
# Chinese words for you, victims, and nobody that the Kubernetes documentation does not use.
PERSONS = re.compile("您|受害者|没有人")
BLOCK = re.compile(r"blocktranslate [^%]*(?:%(?!\})[^%]*)*%\}(.*?)\{% endblocktranslate", re.DOTALL)
COUNTED = re.compile(
    r"\}\}(?: (?:more|examined|feasible|scheduling))* (?:attempts|bytes|candidates|cards|commands|days|devices|hours|lessons"
    r"|minutes|nodes|objects|pods|points|questions|records|rows|runs|sessions|steps|students)\b"
)
# A verb ("runs on"), and numbers that are never 1: limits of the server, rates, scores, and counts that are shown from two on.
NEVER_ONE = {
    "cluster/nodes.html: }} nodes",
    "comparison/inputs.html: }} commands",
    "exports/page.html: }} minutes",
    "exports/page.html: }} steps",
    "experiments/page.html: }} runs",
    "fixes/why_not.html: }} points",
    "panels/stage/filter.html: }} nodes",
    "panels/stage/score_name.html: }} nodes",
    "playground/classroom/desk.html: }} hours",
    "playground/home.html: }} lessons",
    "playground/partials/editor.html: }} bytes",
    "playground/partials/film.html: }} nodes",
    "playground/partials/film.html: }} points",
    "playground/partials/film.html: }} runs",
    "playground/partials/import_form.html: }} bytes",
}
FEWEST_COMMENTS = 17  # in 1,000 lines, without those that speak to tools

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def list_definitions() -> Iterator[Definition]:
    for package in ("scheduler_core", "playground"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, Definition):
                    yield node


def is_participle(name: str) -> bool:
    word = name.strip("_").split("_")[0]
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 4 and word not in NO_PARTICIPLES)


def is_property(node: Definition) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def test_docstrings_begin_with_a_verb_or_a_noun_phrase() -> None:
    first_words = [text.split()[0].strip("`.,:;") for node in list_definitions() if (text := ast.get_docstring(node))]
    assert len(first_words) > 5_000
    assert sum(word in RELATIVE for word in first_words) / len(first_words) <= MOST_RELATIVE


def test_functions_are_named_by_verbs() -> None:
    names = [
        node.name
        for node in list_definitions()
        if not isinstance(node, ast.ClassDef) and not node.name.startswith("__") and not is_property(node)
    ]
    assert len(names) > 8_000
    assert sum(map(is_participle, names)) / len(names) <= MOST_PARTICIPLES


def test_comments_say_why() -> None:
    lines = comments = 0
    for package in ("scheduler_core", "playground"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text()
            lines += text.count("\n")
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            comments += sum(
                t.type == tokenize.COMMENT and not t.string.startswith(("# noqa", "# type:")) for t in tokens
            )
    assert 1000 * comments / lines >= FEWEST_COMMENTS


def list_texts() -> Iterator[tuple[str, str]]:
    """The texts that the sources mark for translation, with their files."""
    for path in list_sources():
        for found, _context, _comments in extract_texts(path):
            for text in (found,) if isinstance(found, str) else found:
                yield path.relative_to(ROOT).as_posix(), text


def test_texts_are_plain() -> None:
    assert (
        sorted(
            {f"{place}: {text}" for place, text in list_texts() if STILTED.search(text) or STILTED_BESIDES.search(text)}
        )
        == []
    )


def test_texts_are_not_colloquial() -> None:
    assert sorted({f"{place}: {text}" for place, text in list_texts() if COLLOQUIAL.search(text)}) == []


def test_notes_of_the_engine_are_plain() -> None:
    stilted = []
    for folder in ("analysis", "apiserver/imports", "controllers", "formats", "notebook", "world"):
        for path in sorted((ROOT / "scheduler_core" / folder).rglob("*.py")):
            nodes = list(ast.walk(ast.parse(path.read_text())))
            documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            stilted += [
                f"{path.relative_to(ROOT)}: {node.value}"
                for node in nodes
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
                if " " in node.value.strip() and OF_NOTES.search(node.value)
            ]
    assert stilted == []


def test_sentences_are_short() -> None:
    sentences = {sentence for _place, text in list_texts() for sentence in SENTENCE.split(text)}
    words = {
        each: [word for word in re.sub("<[^>]+>", "", each).split() if re.search(r"\w", word)] for each in sentences
    }
    assert sorted(each for each in words if len(words[each]) > MOST_WORDS) == []


def test_templates_count_in_the_singular_too() -> None:
    found = set()
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for block in BLOCK.findall(path.read_text(encoding="utf-8")):
            text = " ".join(block.split())
            if "{% plural %}" not in text and (counted := COUNTED.search(text)):
                found.add(f"{path.relative_to(ROOT / 'templates')}: {counted[0]}")
    assert found == NEVER_ONE


def test_lessons_are_plain() -> None:
    stilted = [
        f"{path.parent.name}: {text}"
        for path in sorted((ROOT / "playground" / "lessons" / "content").glob("*/en.yaml"))
        for text in list_strings(yaml.safe_load(path.read_text()), without=())
        if STILTED.search(text)
    ]
    assert len(stilted) <= MOST_STILTED_LESSONS, stilted


def test_chinese_words_are_those_of_the_kubernetes_documentation() -> None:
    words = [str(message.string) for message in read("zh_Hans")]
    lessons = (ROOT / "playground" / "lessons" / "content").glob("*/zh-hans.yaml")
    words += [path.read_text() for path in lessons]
    assert [PERSONS.search(each) and each for each in words if PERSONS.search(each)] == []
