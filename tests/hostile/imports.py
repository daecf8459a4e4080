"""Texts, files and archives that grow, nest, lie about what they are, or name other files."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.faults.visitor import Answer
from tests.hostile.ground import Ground
from tests.hostile.tally import Tally

File = tuple[str, bytes]
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\nspec: {containers: [{name: main, image: x%s}]}\n"
QUANTITIES = (
    "1e999",
    "9" * 300,
    "-1",
    "0x10",
    "NaN",
    "1EiEi",
    "1e-999",
    "٣",
    "1_000",
    " 1",
    "1Ki1",
    "''",
    "[1]",
    "{a: 1}",
)
TAGS = (
    "!!python/object/apply:os.system [touch {0}]",
    "!!python/name:os.system",
    "!!binary '===='",
    "!!set {{a}}",
    "!x y",
)
ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "latin-1", "shift-jis", "utf-7", "cp037", "utf-16-be")
# How large the bombs are: a short walk sends little of each.
SHORT, LONG = 200_000, 30_000_000


def texts(size: int, canary: Path) -> Iterator[File]:
    """Pasted texts by name."""
    depth = min(size // 4, 100_000)
    yield "nested lists", b"[" * depth
    yield "nested objects", b'{"a":' * depth
    yield "nested blocks", "".join(" " * each + "a:\n" for each in range(min(depth, 2_000))).encode()
    yield "one long line", b"a: " + b"x" * size
    yield "one long number", b"a: " + b"9" * min(size, 100_000)
    yield "documents", b"---\n" * (size // 4)
    yield "many keys", "".join(f"k{each}: 1\n" for each in range(size // 40)).encode()
    yield "same keys", b"a: 1\n" * (size // 40)
    yield (
        "aliases",
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(20)),
    )
    yield "an alias of itself", b"a: &a [*a]\nb: &b {c: *b}\n"
    yield "merges", b"a: &a {x: 1}\nb: {<<: [*a, *a, *a], <<: *a}\n"
    yield "a list of nothing", b"apiVersion: v1\nkind: List\nitems: [null, 1, [], {}, x]\n"
    yield "a list in a list", b'{"kind":"List","apiVersion":"v1","items":[' * 500
    yield "characters", "".join(map(chr, range(0x20))).encode() + b"\xff\xfe\xed\xa0\x80"
    for name in ENCODINGS:
        yield name, (POD % ("é", "")).encode(name, errors="replace")
    for quantity in QUANTITIES:
        yield (f"quantity {quantity[:20]}", (POD % ("web", f", resources: {{requests: {{cpu: {quantity}}}}}")).encode())
    for tag in TAGS:
        yield f"tag {tag[:16]}", f"a: {tag.format(canary)}\n".encode()


def archives(size: int, canary: Path) -> Iterator[File]:
    """Files that were uploaded, by name."""
    zeros = bytes(size * 10)
    yield "bomb.gz", gzip.compress(zeros)
    yield "bomb.yaml.gz.gz", gzip.compress(gzip.compress(zeros))
    yield "bomb.bz2", bz2.compress(zeros)
    yield "cut.gz", gzip.compress(zeros)[:-9]
    yield ("lying.zip", _zip({"../../escaped.yaml": b"a: 1", "/tmp/escaped.yaml": b"a: 1", "a\\..\\b": b"a: 1"}))
    yield "many.zip", _zip({f"{number}.yaml": b"" for number in range(size // 100)})
    yield "bomb.zip", _zip({"a.yaml": zeros})
    yield "nested.zip", _zip({"a.zip": _zip({"b.zip": _zip({"c.yaml": b"a: 1"})})})
    yield "cut.zip", _zip({"a.yaml": b"a: 1"})[:-7]
    yield (
        "links.tar",
        _tar(("passwd.yaml", tarfile.SYMTYPE, "/etc/passwd"), ("hard.yaml", tarfile.LNKTYPE, str(canary))),
    )
    yield "devices.tar", _tar(("null.yaml", tarfile.CHRTYPE, ""), ("pipe.yaml", tarfile.FIFOTYPE, ""))
    yield ("above.tar", _tar(("../../above.yaml", tarfile.REGTYPE, ""), ("/tmp/above.yaml", tarfile.REGTYPE, "")))
    yield "name.tar", _tar(("\udcff\n" + "x" * 90, tarfile.REGTYPE, ""))
    yield "half.tar", _tar(("a.yaml", tarfile.REGTYPE, ""))[:600]
    yield "not.tar.gz", b"\x1f\x8b" + os.urandom(1000)
    yield "not.zip", b"PK\x03\x04" + os.urandom(1000)


def _zip(files: dict[str, bytes]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return into.getvalue()


def _tar(*members: tuple[str, bytes, str]) -> bytes:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w", errors="surrogateescape") as archive:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return into.getvalue()


def upload(ground: Ground, path: str, name: str, content: bytes, **fields: str) -> Answer:
    """Send a file as a form does."""
    parts = {"csrfmiddlewaretoken": ground.visitor.token(), **fields}
    body = b"".join(
        f'--x7\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in parts.items()
    )
    body += f'--x7\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    headers = {"Content_Type": "multipart/form-data; boundary=x7", "Origin": ground.url}
    return ground.visitor.ask("POST", path, body + content + b"\r\n--x7--\r\n", **headers)


def walk_imports(ground: Ground, tally: Tally) -> None:
    """Bring each to a session, and as a beginning; no file is written or read outside, and the neighbor is served."""
    size = LONG if ground.long else SHORT
    canary = Path(ground.server.folder) / "canary"
    before = _files()
    path = f"{ground.rich.studio}import"
    for name, text in texts(size, canary):
        tally.take(f"import {name}", ground.visitor.send, path, {"text": text})
        if ground.long:
            tally.take(f"new {name}", ground.visitor.send, "/new", {"start": "import", "text": text})
    for turn, (name, content) in enumerate(archives(size, canary)):
        answer = tally.take(f"import {name}", upload, ground, path, name, content)
        tally.demand("root:x:0" not in answer.text, f"import {name}: a file of the server was read")
        if ground.long or turn % 4 == 0:
            tally.take(f"new {name}", upload, ground, "/new", name, content, start="import")
    tally.take("the neighbor", ground.visitor.ask, "GET", ground.situations[1].studio)
    tally.demand(_files() == before and not canary.exists(), f"files were written: {_files() - before}")


def _files() -> set[str]:
    """What lies where an archive could escape to, without what a kubectl of another test edits meanwhile."""
    found = {each for folder in ("/tmp", "..") for each in Path(folder).glob("*.yaml")}
    return {str(each) for each in found if not each.name.startswith("kubectl-edit-")}
