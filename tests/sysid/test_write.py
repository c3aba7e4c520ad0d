import os
import pathlib

import pytest

from sysid._write import OutputError, refuse_unwritable, write_whole


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "fit.json"
    path.write_text("old")
    seen = []
    replace = pathlib.Path.replace

    def watched(self, target):
        # Until the very rename, a reader sees the old file whole, and the new one is already complete on the disk.
        seen.append((path.read_text(), self.read_text(), self.parent))
        return replace(self, target)

    monkeypatch.setattr(pathlib.Path, "replace", watched)
    write_whole(path, "new")
    assert seen == [("old", "new", tmp_path)]
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["fit.json"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "fit.json"
    path.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OutputError, match=r"fit\.json: cannot be written: No space left on device; choose another --out"
    ):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["fit.json"]


def test_a_folder_that_cannot_take_the_result_is_refused_beforehand(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OutputError, match=r"--out .*file: is a file: name a folder"):
        refuse_unwritable(file)
    with pytest.raises(OutputError, match=r"file is a file, so no folder can be made in it"):
        refuse_unwritable(file / "result")
    new = tmp_path / "some" / "result"
    refuse_unwritable(new)
    assert os.listdir(tmp_path) == ["file"]


def test_a_read_only_place_is_refused(tmp_path, monkeypatch):
    def denied(self, *, exist_ok):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "touch", denied)
    with pytest.raises(OutputError, match="cannot be written: Permission denied; choose another folder"):
        refuse_unwritable(tmp_path / "result")
