"""A server on loopback that does what servers should not, and a network that may talk to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults import Faults, faults
from surefoot.network import Network
from surefoot.types.errors import NetworkError


@pytest.fixture
def server() -> Iterator[Faults]:
    with faults() as running:
        yield running


@pytest.fixture
def network() -> Network:
    """One that may talk to the server, in haste."""
    return Network(allow=["127.0.0.1"], spacing=0)


@pytest.fixture
def caching(tmp_path: Path) -> Network:
    """The same, with a cache in `replies.db`."""
    return Network(allow=["127.0.0.1"], spacing=0, cache=str(tmp_path / "replies.db"))


@pytest.fixture(scope="session")
def refusal() -> Callable[..., str]:
    """The message of the error in which a request ends."""

    def refused(network: Network, url: str, **options: Any) -> str:
        with pytest.raises(NetworkError) as caught:
            network.get(url, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return refused
