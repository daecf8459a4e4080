"""Frames between the web process and its workers."""

import numpy as np
import pytest

from playground.sessions.protocol.frames import Decoder, encode


def test_a_frame_comes_out_as_it_went_in() -> None:
    assert list(Decoder().feed(encode({"op": "x", "n": 1}, [b"one", b""]))) == [
        ({"op": "x", "n": 1}, [b"one", b""])
    ]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_frames_may_arrive_in_parts_of_any_size(size: int) -> None:
    stream = encode({"n": 1}, [b"a" * 50]) + encode({"n": 2}) + encode({"n": 3}, [b"", b"b"])
    decoder = Decoder()
    found = [frame for i in range(0, len(stream), size) for frame in decoder.feed(stream[i : i + size])]
    assert found == [({"n": 1}, [b"a" * 50]), ({"n": 2}, []), ({"n": 3}, [b"", b"b"])]


def test_numbers_and_arrays_of_the_engine_become_json() -> None:
    ((header, _),) = Decoder().feed(encode({"a": np.array([1, 2]), "b": np.int64(3)}))
    assert header == {"a": [1, 2], "b": 3}
