"""Reading of objects from any input: printed by a command, or packed in a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadedObject, LoadLimits, files_of, join_files, load_manifests
from scheduler_core.apimachinery.objects.texts.json_text import RepeatedKey
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.formats.manifests import archives, formats, texts
from scheduler_core.formats.manifests.autoscaler import autoscaler_notes
from scheduler_core.formats.manifests.notes import Note, NotObjects, gettext_noop, newest, replace_manifest
from scheduler_core.formats.manifests.recognition import find_tab_indent, recognise_text, template
from scheduler_core.formats.manifests.tools import without_tools
from scheduler_core.formats.manifests.versions import sort_out_newer, upgrade_objects


def join_inputs(inputs: Sequence[tuple[str, bytes]]) -> bytes:
    """Several inputs as one that knows which lines are whose; one stays as it is, and archives are packed together. NotObjects."""
    if len(inputs) == 1:
        return inputs[0][1]
    if any(archives.is_archive(data) for _, data in inputs):
        return archives.pack_files(inputs)
    return join_files([(name, texts.decode_text(data, name)) for name, data in inputs]).encode()


# Objects that leave their kind to the file they are in, as those of support bundles do.

_VERSIONS = {"HorizontalPodAutoscaler": "v2"}
_SHORT = {"pvs": "PersistentVolume", "pvcs": "PersistentVolumeClaim"}


def with_kind(manifest: Any, file: str) -> Any:
    """Return an object with the kind that its file's name implies: `cluster-resources/pods/web.json` contains Pods."""
    if not isinstance(manifest, Mapping) or manifest.get("kind") or not isinstance(manifest.get("metadata"), Mapping):
        return manifest
    for part in reversed(file.replace("\\", "/").split("/")):
        known = _resources().get(part.partition(".")[0].replace("-", "").replace("_", "").lower())
        if known is not None:
            version, kind = known
            return {**manifest, "apiVersion": manifest.get("apiVersion") or version, "kind": kind}
    return manifest


@cache
def _resources() -> Mapping[str, tuple[str, str]]:
    """Version and kind by the plural that files are named by."""
    known = {name: KINDS[kind] for name, kind in _SHORT.items()} | {kind.plural: kind for kind in KINDS.values()}
    return {
        name: (f"{kind.group}/{_VERSIONS.get(kind.key, 'v1')}".removeprefix("/"), kind.key)
        for name, kind in known.items()
    }


PACKED = gettext_noop(
    "Read from the archive. Files: %(files)s. Documents: %(objects)s. Skipped files, such as logs: %(skipped)s."
)
LINKS = gettext_noop("Links in the archive are not followed. Skipped: %(links)s.")
UNREADABLE = gettext_noop("%(file)s was skipped: %(why)s")
MORE_UNREADABLE = gettext_noop("More skipped files: %(count)s.")
UNREADABLE_ON = gettext_noop("The code block around line %(line)s was skipped: %(why)s")
MORE_UNREADABLE_BLOCKS = gettext_noop("More skipped code blocks: %(count)s.")
EMPTY = gettext_noop("The archive contains no YAML or JSON with objects.")
FENCED = gettext_noop("The code blocks of the text were read.")
OLDER_STATES = gettext_noop(
    "Some objects appear more than once. The newest state of each counts (older states left out: %(count)s)."
)
REPEATED = gettext_noop('Duplicate key "%(key)s" in an object. As in kubectl, the last one wins.')
REPEATED_AT = gettext_noop('%(place)s: duplicate key "%(key)s". As in kubectl, the last one wins.')
REPEATED_ON = gettext_noop('Line %(line)s: duplicate key "%(key)s". As in kubectl, the last one wins.')
MORE_REPEATED = gettext_noop("More duplicate keys: %(count)s.")
_MOST_UNREADABLE = 8
_MOST_REPEATED = 5
_LONGEST_KEY = 100  # characters
_DATA = ("", "yaml", "yml", "json", "jsonl", "ndjson")  # languages of blocks that ought to be readable
_ONE_BLOCK = LoadLimits()


@dataclass(frozen=True, slots=True)
class Intake:
    """The result of reading. `documents` are all documents as written, non-objects included; `text` is the source text, if any."""

    objects: list[LoadedObject]
    notes: list[Note] = field(default_factory=list)
    documents: list[LoadedObject] = field(default_factory=list)
    text: str = ""


def read(data: bytes, limits: LoadLimits | None = None) -> Intake:
    """The objects of a file, of several that were joined, or of an archive. InvalidObject where it cannot be read or breaks a limit."""
    limits = limits or LoadLimits()
    if archives.is_archive(data):
        return _of_archive(data, limits)
    if formats.is_trace(data):
        return _build_intake(formats.read_trace(data), [], "")
    text = texts.decode_text(data)
    documents: list[LoadedObject] = []
    notes: list[Note] = []
    repeated: list[tuple[str, RepeatedKey]] = []
    for name, part in files_of(text):
        twice: list[RepeatedKey] = []
        found, said = _of_text(part, name, limits, twice)
        documents += _number_documents(found, len(documents))
        notes += said
        repeated += [(name, each) for each in twice]
    return _build_intake(documents, [*notes, *_of_repeated(repeated)], text)


def _of_archive(data: bytes, limits: LoadLimits) -> Intake:
    """Read the objects of an archive; skip unreadable files, and note them."""
    unpacked = archives.unpack(data, archives.Budget(limits.max_bytes))
    documents: list[LoadedObject] = []
    failed: list[Note] = []
    read_files: list[tuple[str, str]] = []
    repeated: list[tuple[str, RepeatedKey]] = []
    for file in unpacked.files:
        try:
            if formats.is_trace(file.data):
                found = formats.read_trace(file.data, file.name)
            else:
                text = texts.decode_text(file.data, file.name)
                twice: list[RepeatedKey] = []
                found = _of_text(text, file.name, limits, twice)[0]
                repeated += [(file.name, each) for each in twice]
                read_files.append((file.name, text))
        except InvalidObject as error:
            failed.append(Note(UNREADABLE, {"file": file.name, "why": _why(error)}))
            continue
        if len(documents) + len(found) > limits.max_objects:
            raise NotObjects(Note(archives.TOO_MANY))
        named = (replace_manifest(each, with_kind(each.manifest, file.name)) for each in found)
        documents += _number_documents([replace(each, file=file.name) for each in named], len(documents))
    if not documents:
        raise NotObjects(failed[0] if failed else Note(EMPTY))
    counts = {"files": f"{len(read_files):,}", "objects": f"{len(documents):,}", "skipped": f"{unpacked.skipped:,}"}
    notes = [Note(PACKED, counts)]
    notes += [Note(LINKS, {"links": f"{unpacked.links:,}"})] if unpacked.links else []
    notes += failed[:_MOST_UNREADABLE]
    more = len(failed) - _MOST_UNREADABLE
    notes += [Note(MORE_UNREADABLE, {"count": f"{more:,}"})] if more > 0 else []
    return _build_intake(documents, [*notes, *_of_repeated(repeated)], join_files(read_files))


def _of_repeated(repeated: Sequence[tuple[str, RepeatedKey]]) -> list[Note]:
    """Return the notes on repeated keys, each with its file's name."""
    notes = [_build_repeated_note(file, each) for file, each in repeated[:_MOST_REPEATED]]
    more = len(repeated) - _MOST_REPEATED
    return [*notes, Note(MORE_REPEATED, {"count": f"{more:,}"})] if more > 0 else notes


def _build_repeated_note(file: str, found: RepeatedKey) -> Note:
    key = found.key if len(found.key) <= _LONGEST_KEY else f"{found.key[:_LONGEST_KEY]}…"
    if file:
        place = file if found.line is None else f"{file}:{found.line}"
        return Note(REPEATED_AT, {"place": place, "key": key})
    return Note(REPEATED, {"key": key}) if found.line is None else Note(REPEATED_ON, {"line": found.line, "key": key})


def _build_intake(documents: list[LoadedObject], notes: list[Note], text: str) -> Intake:
    """The documents' objects as v1.34 has them, each once."""
    whole, of_formats = formats.expand_documents(documents)
    objects, of_tools = without_tools(whole)
    objects, of_versions = upgrade_objects(objects)
    objects, of_newer = sort_out_newer(objects)
    objects, older = newest(objects)
    states = [Note(OLDER_STATES, {"count": f"{older:,}"})] if older else []
    said = [*notes, *of_formats, *of_tools, *of_versions, *of_newer, *states, *autoscaler_notes(objects)]
    return Intake(_number_documents(objects, 0), said, whole, text)


def _of_text(
    text: str, name: str, limits: LoadLimits, repeated: list[RepeatedKey]
) -> tuple[list[LoadedObject], list[Note]]:
    """The documents of one file. What is no YAML or JSON, or holds none of objects, is looked at for what else it could be. `repeated`
    takes the keys that stand twice in an object.
    """
    text = texts.without_prompt(texts.without_logs(text.removeprefix("\ufeff")))
    try:
        documents = load_manifests(text, limits, repeated)
    except InvalidObject as error:
        return _of_other_text(text, name, limits, error, repeated)
    quoted = "```" in text or "~~~" in text
    if any(isinstance(each.manifest, str) or (quoted and not _says_kind(each.manifest)) for each in documents):
        return _of_other_text(text, name, limits, None, repeated)
    unfinished = "{{" in text and any(_is_unfinished(each.manifest) for each in documents)
    if unfinished and (note := template(text)):
        raise NotObjects(note)
    if documents and not any(_says_kind(each.manifest) for each in documents) and (note := recognise_text(text, True)):
        raise NotObjects(note)
    return _in_file(documents, name), []


def _of_other_text(
    text: str, name: str, limits: LoadLimits, error: InvalidObject | None, repeated: list[RepeatedKey]
) -> tuple[list[LoadedObject], list[Note]]:
    repeated.clear()
    inner, passed = _of_blocks(text, name)
    if inner:
        documents = load_manifests(inner, limits, repeated)
        return _in_file([each for each in documents if _says_kind(each.manifest)], name), [Note(FENCED), *passed]
    note = recognise_text(text)
    if note is not None:
        raise NotObjects(note) from error
    if error is None:
        return _in_file(load_manifests(text, limits, repeated), name), []
    note = find_tab_indent(text, error.errors[0].line)
    if note is not None:
        raise NotObjects(note, error.errors[0].line) from error
    raise InvalidObject(each.in_file(name) for each in error.errors) from error


def _of_blocks(text: str, name: str) -> tuple[str, list[Note]]:
    """Return the blocks of a text that hold objects, in their lines, "" if none does; and notes on those that can't be read."""
    kept = [""] * (text.count("\n") + 1)
    found, more = False, 0
    failed: list[tuple[int, str]] = []
    for block in texts.extract_blocks(text):
        ought = block.language in _DATA
        # For the lines of its errors.
        above = "\n" * block.start if ought and len(failed) < _MOST_UNREADABLE else ""
        try:
            manifests = [each.manifest for each in load_manifests(above + block.text, _ONE_BLOCK, [])]
        except InvalidObject as error:
            failed += [(error.errors[0].line or block.start + 1, _why(error))] if above else []
            more += ought and not above
            continue
        if any(map(_says_kind, manifests)):
            found = True
            kept[block.start : block.start + len(block.lines)] = block.text.split("\n")
            if block.start:
                kept[block.start - 1] = "---"
    notes = [
        Note(UNREADABLE, {"file": f"{name}:{line}", "why": why})
        if name
        else Note(UNREADABLE_ON, {"line": line, "why": why})
        for line, why in failed
    ]
    notes += [Note(MORE_UNREADABLE_BLOCKS, {"count": f"{more:,}"})] if more else []
    return "\n".join(kept) if found else "", notes


def _in_file(documents: list[LoadedObject], name: str) -> list[LoadedObject]:
    return [replace(each, file=name) for each in documents] if name else documents


def _number_documents(documents: Sequence[LoadedObject], first: int) -> list[LoadedObject]:
    return [
        each if each.index == index else replace(each, index=index) for index, each in enumerate(documents, start=first)
    ]


def _says_kind(manifest: object) -> bool:
    return isinstance(manifest, dict) and bool(
        manifest.get("kind") or manifest.get("object") or manifest.get("resource")
    )


def _is_unfinished(manifest: object) -> bool:
    """Return True if an object's name or namespace is a template that is not filled in yet."""
    meta = manifest.get("metadata") if isinstance(manifest, dict) else None
    named = [meta.get("name"), meta.get("namespace")] if isinstance(meta, dict) else []
    return any(isinstance(each, str) and "{{" in each for each in named)


def _why(error: InvalidObject) -> str:
    return str(error.errors[0])[:300]
