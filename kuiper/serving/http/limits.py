"""What a client can have at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of a server, each for one connection or, where it says so, for one model."""

    body_bytes: int = 4 << 20
    body_seconds: float = 30.0
    """Until the whole body of a request is there."""
    head_seconds: float = 30.0
    """Until the head of a request is there."""
    send_seconds: float = 30.0
    """Until a client takes more of its answer."""
    choices: int = 16
    """Texts that one request can ask for."""
    texts: int = 256
    """Texts of one model that run or wait; what is beyond is answered with 429."""
    calls: int = 256
    """Requests for one network that run or wait; what is beyond is answered with 429."""
    waiting_bytes: int = 1 << 30
    """Of their bodies together."""
    tensor_bytes: int = 64 << 20
    """Of the arrays of a request in binary form; those in JSON are part of ``body_bytes``."""
    json_numbers: int = 1 << 20
    """Of an answer in JSON."""
    picture_bytes: int = 16 << 20
    pictures: int = 2
    """That are decoded at the same time; each may take ``MAX_PIXELS`` of ``picture_file``."""
    inputs: int = 2048
    """Texts that one request can have the vectors of."""
    open_inputs: int = 8192
    """Such texts of one model that run or wait."""
    connections: int = 1024
    """Of the whole server."""
    stop_strings: int = 16
    stop_characters: int = 256
    retry_seconds: int = 1
    """What ``Retry-After`` says behind a 429."""
