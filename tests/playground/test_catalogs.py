"""Message catalogs: compiled from their .po files at the start, and only where words changed."""

from __future__ import annotations

import gettext
import logging
import os
from pathlib import Path

import pytest

from playground.common.catalogs import compile_catalogs

PO = """\
msgid ""
msgstr ""
"Language: zh_Hans\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "node"
msgstr "{word}"

msgctxt "queue"
msgid "pod"
msgid_plural "pods"
msgstr[0] "容器组"

msgid "untranslated"
msgstr ""
"""


@pytest.fixture
def po(tmp_path: Path) -> Path:
    path = tmp_path / "zh_Hans/LC_MESSAGES/django.po"
    path.parent.mkdir(parents=True)
    path.write_text(PO.format(word="节点"))
    return path


def words(po: Path) -> gettext.GNUTranslations:
    with po.with_suffix(".mo").open("rb") as compiled:
        return gettext.GNUTranslations(compiled)


def names(po: Path) -> set[str]:
    return {path.name for path in po.parent.iterdir()}


def test_a_clone_gets_its_words(tmp_path: Path, po: Path) -> None:
    assert compile_catalogs(tmp_path) == [po.with_suffix(".mo")]
    chinese = words(po)
    assert chinese.gettext("node") == "节点"
    assert chinese.npgettext("queue", "pod", "pods", 2) == "容器组"
    assert chinese.gettext("untranslated") == "untranslated"
    assert names(po) == {"django.po", "django.mo"}


def test_words_that_did_not_change_are_not_compiled_again(tmp_path: Path, po: Path) -> None:
    compile_catalogs(tmp_path)
    assert compile_catalogs(tmp_path) == []


def test_words_that_changed_are_compiled_again(tmp_path: Path, po: Path) -> None:
    compile_catalogs(tmp_path)
    po.write_text(PO.format(word="主机"))
    newer = po.with_suffix(".mo").stat().st_mtime + 1
    os.utime(po, (newer, newer))
    assert compile_catalogs(tmp_path) == [po.with_suffix(".mo")]
    assert words(po).gettext("node") == "主机"


def test_a_broken_catalog_keeps_the_words_of_before(tmp_path: Path, po: Path) -> None:
    compile_catalogs(tmp_path)
    newer = po.with_suffix(".mo").stat().st_mtime + 1
    po.write_text(f"{PO}\n<<<<<<< HEAD\n")
    os.utime(po, (newer, newer))
    with pytest.raises(ValueError, match=r"django\.po, line 18: '<<<<<<< HEAD' is no part"):
        compile_catalogs(tmp_path)
    assert words(po).gettext("node") == "节点"
    assert names(po) == {"django.po", "django.mo"}


def test_a_folder_that_cannot_be_written_to_is_logged(
    tmp_path: Path, po: Path, caplog: pytest.LogCaptureFixture
) -> None:
    po.with_suffix(".mo").mkdir()  # root writes to a folder of any mode, but replaces no folder by a file
    os.utime(po.with_suffix(".mo"), (0, 0))
    with caplog.at_level(logging.WARNING, logger="playground.common.catalogs"):
        assert compile_catalogs(tmp_path) == []
    assert "django.po cannot be compiled to django.mo" in caplog.text
    assert names(po) == {"django.po", "django.mo"}
