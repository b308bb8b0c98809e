"""The head of an answer is sent with its body, and nothing is held that no body follows."""

import asyncio

import pytest

from nightrook.web.connections import OneWrite

HEAD = b"HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\n"
STREAM = b"HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n"


class Sent(asyncio.Transport):
    """A transport that notes what is sent, and how often."""

    def __init__(self) -> None:
        self.calls: list[bytes | None] = []

    def write(self, data: object) -> None:
        assert isinstance(data, bytes)
        self.calls.append(data)

    def close(self) -> None:
        self.calls.append(None)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ([HEAD, b"{}", b""], [HEAD + b"{}"]),
        ([HEAD, b"{}", b"", HEAD, HEAD, b""], [HEAD + b"{}", HEAD + HEAD]),
        ([HEAD, b"", b""], [HEAD]),
        ([STREAM, b"2\r\n{}\r\n"], [STREAM, b"2\r\n{}\r\n"]),
    ],
    ids=["an answer", "a body that looks like a head", "no body", "a stream"],
)
def test_an_answer_is_one_write_and_a_stream_is_not_held(
    written: list[bytes], sent: list[bytes]
) -> None:
    transport = Sent()
    connection = OneWrite(transport)
    for data in written:
        connection.write(data)
    assert transport.calls == sent


def test_a_head_without_a_body_is_sent_before_the_connection_is_closed() -> None:
    transport = Sent()
    connection = OneWrite(transport)
    connection.write(HEAD)
    connection.close()
    assert transport.calls == [HEAD, None]
