"""studio/stream.js: the connection that resumes where the page stands, comes back when lost, and hands on messages in their order."""

from __future__ import annotations

import pytest

from tests.browser.modules.conftest import Alone

STREAM = "studio/stream.js"
CONNECT = """({ connect }) => {
  let seen = 0;
  globalThis.stream = connect("ws://modules.test/ws", {
    hello: () => ({ seen }),
    handlers: new Proxy({}, {
      get: () => (data) => {
        hear("message", data);
        seen = data.seq ?? seen;
      },
    }),
    state: (open) => hear("open", open),
  });
}"""


@pytest.fixture
def stream(alone: Alone) -> Alone:
    alone.show()
    alone.call(STREAM, CONNECT)
    return alone


def opened(stream: Alone) -> int:
    """How many connections have been opened by now."""
    count: int = stream.do("sockets.length")
    return count


def lose(stream: Alone) -> None:
    stream.do("sockets.at(-1).close()")


def test_a_connection_says_first_what_the_page_has_seen(stream: Alone) -> None:
    assert stream.heard == []
    stream.do("sockets[0].open()")
    assert stream.heard == [["sent", {"seen": 0}], ["open", True]]


def test_messages_are_handed_on_in_the_order_they_came_whatever_steps_they_skip(stream: Alone) -> None:
    stream.do("sockets[0].open()")
    stream.do("heard.splice(0)")
    deltas = [{"type": "delta", "seq": seq} for seq in (1, 2, 7, 3)]
    stream.do(f"sockets[0].say(...{deltas})")
    assert stream.heard == [["message", delta] for delta in deltas]


def test_what_was_lost_comes_back_and_resumes_from_what_was_seen_last(stream: Alone) -> None:
    stream.do("sockets[0].open(), sockets[0].say({ type: 'delta', seq: 7 }), heard.splice(0)")
    lose(stream)
    assert stream.heard == [["open", False]]
    stream.do("tick(249)")
    assert opened(stream) == 1
    stream.do("tick(1), sockets[1].open()")
    assert stream.heard == [["sent", {"seen": 7}], ["open", True]]
    assert stream.do("sockets[1].url") == "ws://modules.test/ws"


def test_the_longer_it_is_away_the_longer_it_waits_up_to_a_limit(stream: Alone) -> None:
    for delay in (250, 500, 1000, 2000, 4000, 8000, 8000):
        before = opened(stream)
        lose(stream)
        stream.do(f"tick({delay - 1})")
        assert opened(stream) == before
        stream.do("tick(1)")
        assert opened(stream) == before + 1
    stream.do("sockets.at(-1).open()")
    before = opened(stream)
    lose(stream)
    stream.do("tick(250)")
    assert opened(stream) == before + 1


def test_a_session_that_is_gone_is_not_asked_for_again(stream: Alone) -> None:
    stream.do("sockets[0].open(), sockets[0].say({ type: 'gone' })")
    lose(stream)
    stream.do("tick(60_000), dispatchEvent(new Event('online'))")
    assert opened(stream) == 1


@pytest.mark.parametrize(
    "back", ["dispatchEvent(new Event('online'))", "document.dispatchEvent(new Event('visibilitychange'))"]
)
def test_when_the_network_or_the_reader_is_back_it_does_not_wait(stream: Alone, back: str) -> None:
    stream.do(back)
    assert opened(stream) == 1
    lose(stream)
    stream.do(back)
    stream.do(back)
    assert opened(stream) == 2
    stream.do("tick(60_000)")
    assert opened(stream) == 2


def test_what_cannot_be_sent_is_said_to_the_sender(stream: Alone) -> None:
    message = "stream.send({ type: 'goto', at: 3 })"
    assert stream.do(message) is False
    stream.do("sockets[0].open(), heard.splice(0)")
    assert stream.do(message) is True
    assert stream.heard == [["sent", {"type": "goto", "at": 3}]]
    lose(stream)
    assert stream.do(message) is False


def test_a_silent_connection_is_kept_alive(stream: Alone) -> None:
    stream.do("sockets[0].open(), heard.splice(0), tick(50_000)")
    assert stream.heard == [["sent", {"type": "ping"}]] * 2
