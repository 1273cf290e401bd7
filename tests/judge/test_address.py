"""Where a judge may live, and that nothing else is ever looked up or connected to."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import UsageError
from evaluator.judge.address import Address, check_url
from evaluator.judge.client import HttpJudge

REFUSED = [
    "http://example.org",
    "http://10.0.0.5:8000",
    "http://192.168.0.1:8000",
    "http://169.254.169.254/latest",
    "http://127.0.0.1.nip.io:8000",
    "http://localhost:8000",
    "http://localhost.evil.example",
    "http://2130706433:8000",
    "http://0x7f.0.0.1:8000",
    "http://0x7f000001",
    "http://0177.0.0.1:8000",
    "http://127.1:8000",
    "http://127.0.0.1.:8000",
    "http://0.0.0.0:8000",
    "http://[::]:8000",
    "http://[::ffff:127.0.0.1]:8000",
    "http://[::ffff:10.0.0.5]:8000",
    "http://[::1%25lo]:8000",
    "http://[fe80::1]:8000",
    "http://user:pass@127.0.0.1:8000",
    "http://127.0.0.1@example.org",
    "http://127.0.0.1:8000@example.org",
    "http://example.org#@127.0.0.1",
    "http://127.0.0.1\\@example.org",
    "http://127.0.0.1:8000/v1/../x",
    "http://127.0.0.1:8000/?a=b",
    "http://127.0.0.1:8000\n",
    " http://127.0.0.1:8000",
    "http://127.0.0.1:8000\r\nHost: example.org",
    "http://127.0.0.1:0",
    "http://127.0.0.1:99999",
    "http://127.0.0.1:-1",
    "http://127.0.0.１:8000",  # a digit that is not ASCII
    "https://127.0.0.1:8000",
    "file:///etc/passwd",
    "ftp://127.0.0.1",
    "127.0.0.1:8000",
    "//127.0.0.1:8000",
    "unix:relative.sock",
    "unix:",
    "unix:/" + "x" * 107,
    "unix:/a\0b",
    "",
]

ACCEPTED = {
    "http://127.0.0.1": Address(port=80),
    "http://127.0.0.1:8000": Address(port=8000),
    "http://127.0.0.1:8000/": Address(port=8000),
    "http://127.0.0.1:8000/v1": Address(port=8000),
    "http://127.0.0.1:8000/v1/": Address(port=8000),
    "http://127.9.8.7:1": Address(host="127.9.8.7", port=1),
    "http://[::1]:8000": Address(host="::1", port=8000),
    "http://[0:0:0:0:0:0:0:1]:8000": Address(host="::1", port=8000),
    "unix:/run/judge.sock": Address(unix_path="/run/judge.sock"),
}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **_: object) -> None:
        raise AssertionError(f"a name was looked up or a socket opened: {arguments}")

    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection", "socket"):
        monkeypatch.setattr(socket, name, never)


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.usefixtures("no_network")
def test_anything_but_a_loopback_literal_is_refused_without_a_look_up(url: str) -> None:
    with pytest.raises(UsageError, match="is refused"):
        HttpJudge.connect(url)


@pytest.mark.parametrize(("url", "address"), ACCEPTED.items())
@pytest.mark.usefixtures("no_network")
def test_loopback_literals_and_unix_sockets_are_accepted(url: str, address: Address) -> None:
    assert check_url(url) == address


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_accepted_if_and_only_if_it_is_loopback(address: ipaddress.IPv4Address) -> None:
    if address.is_loopback:
        assert check_url(f"http://{address}:1").host == str(address)
    else:
        with pytest.raises(UsageError):
            check_url(f"http://{address}:1")


def test_every_address_in_127_8_is_accepted_up_to_its_ends() -> None:
    assert check_url("http://127.255.255.255").host == "127.255.255.255"
    for outside in ("126.255.255.255", "128.0.0.0"):
        with pytest.raises(UsageError):
            check_url(f"http://{outside}")


@given(st.text(max_size=60))
def test_no_text_gets_past_the_check_to_somewhere_else(text: str) -> None:
    for url in (text, f"http://{text}", f"http://127.0.0.1{text}"):
        try:
            found = check_url(url)
        except UsageError:
            continue
        assert found.unix_path or ipaddress.ip_address(found.host).is_loopback


def test_a_refusal_says_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"http://127\.0\.0\.1:8000.*unix:/run/judge\.sock.*localhost neither"):
        check_url("http://localhost:8000")


def test_a_url_is_made_of_checked_parts() -> None:
    assert check_url("http://[::1]:8000/v1").url == "http://[::1]:8000"
    assert str(check_url("unix:/run/judge.sock")) == "unix:/run/judge.sock"
