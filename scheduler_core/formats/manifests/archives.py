"""Archives: tar, tar.gz, gz, and zip, unpacked in memory within limits. Writes no files and follows no links."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, cast

from scheduler_core.formats.manifests.notes import Note, NotObjects, gettext_noop

_GZIP, _ZIP, _EMPTY_ZIP = b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06"
_OTHERS = {b"\xfd7zXZ\x00": "xz -d", b"BZh": "bzip2 -d", b"\x28\xb5\x2f\xfd": "zstd -d", b"7z\xbc\xaf": "7z x"}
_READ = (".yaml", ".yml", ".json", ".jsonl", ".ndjson")
_INNER = (".tar", ".tar.gz", ".tgz", ".zip", ".gz")
_CHUNK = 64 << 10
_LONGEST_HEADERS = 1 << 20  # between two members of a tar
_LARGEST_DIRECTORY = 16 << 20  # of a zip
_DEEPEST = 2
_END, _LOCATOR = b"PK\x05\x06", b"PK\x06\x07"


@dataclass(frozen=True, slots=True)
class File:
    """A file of an archive, or the input file itself."""

    name: str
    data: bytes


@dataclass(slots=True)
class Budget:
    """The limits of unpacking: bytes to keep, bytes to skip, members."""

    kept: int
    passed: int = 1 << 30
    members: int = 100_000

    def keep(self, size: int) -> None:
        self.kept -= size
        if self.kept < 0:
            raise NotObjects(Note(TOO_LARGE))

    def pass_over(self, size: int) -> None:
        self.passed -= size
        if self.passed < 0:
            raise NotObjects(Note(TOO_LARGE))

    def member(self) -> None:
        self.members -= 1
        if self.members < 0:
            raise NotObjects(Note(TOO_MANY))


@dataclass(slots=True)
class UnpackedFiles:
    """The files that may contain objects, and the number of others: links, and files with other contents."""

    files: list[File] = field(default_factory=list)
    skipped: int = 0
    links: int = 0


TOO_LARGE = gettext_noop("The unpacked archive is too large. Pack only YAML and JSON files, without logs.")
TOO_MANY = gettext_noop("The archive has too many members. Pack only YAML and JSON files.")
BROKEN = gettext_noop("The archive cannot be read: it is damaged or truncated.")
OTHER_FORMAT = gettext_noop(
    "Archives of this format are not supported. Unpack the archive with %(command)s and pack it as tar.gz or zip."
)


def is_archive(data: bytes) -> bool:
    """Return True if the data begins as an archive, of a format that is unpacked here or another."""
    starts = data.startswith((_GZIP, _ZIP, _EMPTY_ZIP, *_OTHERS))
    return starts or _is_tar(data[:512])


def pack_files(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Return files (names and contents) as one archive."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data)
    return whole.getvalue()


def unpack(data: bytes, budget: Budget) -> UnpackedFiles:
    """Return the files of an archive that may contain objects. Raise NotObjects if it is unreadable or exceeds a limit."""
    unpacked = UnpackedFiles()
    try:
        _unpack(File("", data), unpacked, budget, 0)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error) as error:
        if isinstance(error, NotObjects):
            raise
        raise NotObjects(Note(BROKEN)) from error
    return unpacked


def unpack_files(data: bytes, most: int, members: int) -> list[tuple[str, bytes]]:
    """Return the names and contents of an archive's files, within limits of bytes and members. Raise NotObjects."""
    budget = Budget(most, _CHUNK, members)
    return [(file.name, file.data) for file in unpack(data, budget).files]


def _unpack(file: File, unpacked: UnpackedFiles, budget: Budget, depth: int) -> None:
    data = file.data
    for magic, command in _OTHERS.items():
        if data.startswith(magic):
            raise NotObjects(Note(OTHER_FORMAT, {"command": command}))
    if data.startswith((_ZIP, _EMPTY_ZIP)):
        members = _of_zip(data, unpacked, budget)
    elif data.startswith(_GZIP):
        members = _of_gzip(file, unpacked, budget)
    else:
        members = _of_tar(io.BytesIO(data), unpacked, budget)
    for each in members:
        if depth < _DEEPEST and is_archive(each.data):
            _unpack(each, unpacked, budget, depth + 1)
        else:
            unpacked.files.append(each)


def _of_gzip(file: File, unpacked: UnpackedFiles, budget: Budget) -> Iterator[File]:
    stream = cast("IO[bytes]", gzip.GzipFile(fileobj=io.BytesIO(file.data)))
    start = stream.read(512)
    stream.seek(0)
    if _is_tar(start):
        yield from _of_tar(stream, unpacked, budget)
        return
    name = file.name.rpartition("/")[2].removesuffix(".gz")
    yield File(name, _content(stream, budget))


def _of_tar(stream: IO[bytes], unpacked: UnpackedFiles, budget: Budget) -> Iterator[File]:
    source = _MeteredStream(stream)
    with tarfile.open(fileobj=source, mode="r|", errorlevel=2) as tar:
        while True:
            source.left = _LONGEST_HEADERS
            member = tar.next()
            if member is None:
                return
            budget.member()
            source.left = member.size + _LONGEST_HEADERS
            if not member.isfile() or member.issparse():
                unpacked.links += not member.isdir()
                continue
            content = tar.extractfile(member)
            assert content is not None
            if _is_wanted(member.name):
                yield File(member.name, _content(content, budget))
                continue
            unpacked.skipped += 1
            while chunk := content.read(_CHUNK):
                budget.pass_over(len(chunk))


class _MeteredStream(io.RawIOBase):
    """A stream with a limit on the bytes to read, which the caller extends. Prevents headers of unlimited length."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.left = _LONGEST_HEADERS  # the first one is read before anybody allows it

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise NotObjects(Note(TOO_LARGE))
        return data


def _of_zip(data: bytes, unpacked: UnpackedFiles, budget: Budget) -> Iterator[File]:
    # A directory whose size says that it has too many members is not read.
    end = data.rfind(_END, max(0, len(data) - (66 << 10)))
    if end < 0 or len(data) < end + 22 or data[max(0, end - 20) : end].startswith(_LOCATOR):
        raise NotObjects(Note(BROKEN))
    (size,) = struct.unpack_from("<I", data, end + 12)
    if size > _LARGEST_DIRECTORY:
        raise NotObjects(Note(TOO_MANY))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        for member in packed.infolist():
            budget.member()
            if member.is_dir():
                continue
            if (member.external_attr >> 16) & 0o170000 == 0o120000:
                unpacked.links += 1
            elif not _is_wanted(member.filename) or member.flag_bits & 1 or member.compress_type not in (0, 8):
                unpacked.skipped += 1
            else:
                with packed.open(member) as content:
                    yield File(member.filename, _content(content, budget))


def _content(stream: IO[bytes], budget: Budget) -> bytes:
    chunks = []
    while chunk := stream.read(_CHUNK):
        budget.keep(len(chunk))
        chunks.append(chunk)
    return b"".join(chunks)


def _is_wanted(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    last = parts[-1].lower()
    if ".." in parts or parts[0] in ("", "__MACOSX") or last.startswith("._"):
        return False
    return last.endswith((*_READ, *_INNER))


def _is_tar(start: bytes) -> bool:
    return start[257:262] == b"ustar"
