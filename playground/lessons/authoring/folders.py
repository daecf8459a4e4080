"""Conversion of a lesson's folder to an archive and back."""

from collections.abc import Iterator, Sequence

from playground.lessons.authoring.files import PLAN, LessonFiles
from playground.lessons.format import LANGUAGES
from scheduler_core.formats.manifests import NotObjects, is_archive, pack_files, unpack_files

MOST_MEMBERS = 100


class BadFolder(ValueError):
    """An input that is not a lesson's folder."""


def pack_folder(name: str, files: LessonFiles) -> bytes:
    """Return the folder as a zip. Equal files give equal bytes."""
    return pack_files([(f"{name}/{file}", text.encode()) for file, text in files.by_name().items()])


def folder_of(given: Sequence[tuple[str, bytes]], most: int) -> LessonFiles:
    """Return the files of a lesson from single files or an archive, which may unpack to `most` bytes. Raise BadFolder."""
    found: dict[str, str] = {}
    for name, data in _unpack_files(given, most):
        last = name.replace("\\", "/").rpartition("/")[2].lower()
        if last not in (PLAN, *(f"{language}.yaml" for language in LANGUAGES)):
            continue
        if last in found:
            raise BadFolder(f"there are two files {last}; one lesson is expected")
        try:
            found[last] = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise BadFolder(f"{last} is not UTF-8 text: byte {error.start + 1:,}") from None
    if PLAN not in found:
        names = ", ".join(name[:80] for name, _ in given) or "nothing"
        raise BadFolder(f"{names}: there is no {PLAN} in it")
    return LessonFiles(found[PLAN], {language: found.get(f"{language}.yaml", "") for language in LANGUAGES})


def _unpack_files(given: Sequence[tuple[str, bytes]], most: int) -> Iterator[tuple[str, bytes]]:
    left = most
    for name, data in given:
        if is_archive(data):
            try:
                files = unpack_files(data, left, MOST_MEMBERS)
            except NotObjects as error:
                raise BadFolder(f"{name[:80]}: {error.note}") from None
        else:
            files = [(name, data)]
        left -= sum(len(content) for _, content in files)
        if left < 0:
            raise BadFolder(f"a lesson has {most:,} bytes at most, and this has more")
        yield from files
