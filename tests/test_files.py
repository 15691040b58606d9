"""A file is written whole or not at all."""

import pytest

from relxl.files import write_atomic


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "new folder" / "file"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two" and [p.name for p in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_failed_write_keeps_the_old_content(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"old")
    with pytest.raises(TypeError):
        write_atomic(path, "not bytes")
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["file"]
