"""Meeting a server and asking it: who it is, what it is sent, what is refused."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import JudgeUnusableError
from evaluator.judge import probes
from evaluator.judge.address import Address
from evaluator.judge.client import HttpJudge, HttpOptions
from evaluator.judge.transport import TROUBLE, http_client
from evaluator.judge.types import JudgeError, Modality, Status
from tests.judge import fake_server as fake
from tests.judge.conftest import Connect
from tests.judge.fake_server import Behaviour, running

QUESTION = probes.question("Dark?")


def expected(how: Behaviour, number: int) -> float:
    body = how.seen[-1][2]
    return fake.logprob({"messages": body["messages"], "times": body.get("media_io_kwargs")}, number)


def test_an_answer_has_the_servers_numbers(connect: Connect) -> None:
    how = Behaviour()
    raw = connect(how).ask(QUESTION)
    assert raw.label_logprobs == {"Yes": expected(how, 7), "No": expected(how, 8)}
    assert raw.text == max(raw.label_logprobs, key=raw.label_logprobs.__getitem__)
    assert raw.usage == {"prompt_tokens": 9, "completion_tokens": 1}


def test_the_identity_says_who_answers(connect: Connect) -> None:
    identity = connect(model_sha256="ab" * 32, flags_sha256="cd").identity
    assert identity.model == "judge"
    assert identity.engine == "fake 1.0 fake-1 flags:cd"
    assert identity.model_sha256 == "ab" * 32
    assert identity.trained


def test_a_fixture_says_that_it_is_one(connect: Connect) -> None:
    assert not connect(Behaviour(card={"trained": False})).identity.trained


def test_the_engine_is_named_without_line_breaks(connect: Connect) -> None:
    assert connect(Behaviour(card={"owned_by": "a\nb\x1b[31m" + "x" * 999})).identity.engine.isprintable()


def test_a_model_that_is_not_served_is_refused_by_name() -> None:
    with running(Behaviour(model="other")) as url, pytest.raises(JudgeUnusableError, match=r"'judge'.*found other"):
        HttpJudge.connect(url, HttpOptions(model="judge"))


def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        with pytest.raises(JudgeUnusableError, match="no judge answers at"):
            HttpJudge.connect(f"http://127.0.0.1:{taken.getsockname()[1]}")
    with pytest.raises(JudgeUnusableError, match="no judge answers at unix"):
        HttpJudge.connect(f"unix:{tmp_path}/none.sock")


def test_a_unix_socket_gives_the_same_answers(connect: Connect, tmp_path: Path) -> None:
    with running(Behaviour(), tmp_path / "judge.sock") as url, closing(HttpJudge.connect(url)) as judge:
        assert judge.ask(QUESTION) == connect().ask(QUESTION)


def test_a_label_must_be_one_token(connect: Connect) -> None:
    with pytest.raises(JudgeError, match="'Maybe' must be one token") as error:
        connect().ask(probes.question("Dark?", labels=("Yes", "Maybe")))
    assert error.value.status is Status.ERROR


def test_labels_are_looked_up_once(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    for number in range(5):
        judge.ask(probes.question(f"Dark {number}?"))
    assert [path for path, *_ in how.seen].count("/tokenize") == 4  # two to meet, two to ask


def test_another_judge_behind_the_same_address_is_noticed(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    judge.ask(QUESTION)
    for name in ("fingerprint", "model"):
        setattr(how, name, "new")
        with pytest.raises(JudgeError, match="another judge answers") as error:
            judge.ask(QUESTION)
        assert error.value.status is Status.ERROR


def test_no_more_requests_than_agreed_are_under_way(connect: Connect) -> None:
    how = Behaviour(fault=lambda _: fake.slow(0.05))
    judge = connect(how, concurrency=3)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(judge.ask, probes.mixed(24, frozenset({Modality.TEXT}))))
    assert how.busiest == 3


# ------------------------------------------------------------------------------------------------------ air gap


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Hosts that were handed to the resolver."""
    seen: list[Any] = []
    real = socket.getaddrinfo

    def watching(host: Any, *rest: Any, **named: Any) -> Any:
        seen.append(host)
        return real(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", watching)
    return seen


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Addresses to which a socket was connected."""
    seen: list[Any] = []
    real = socket.socket.connect

    def watching(own: socket.socket, address: Any) -> None:
        seen.append(address)
        real(own, address)

    monkeypatch.setattr(socket.socket, "connect", watching)
    return seen


def test_proxies_of_the_environment_are_not_used(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert connect().ask(QUESTION).text in {"Yes", "No"}


def test_a_netrc_file_is_not_read(connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login user password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    how = Behaviour()
    connect(how).ask(QUESTION)
    assert not any("authorization" in name.lower() for _, headers, _ in how.seen for name in headers)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_error_and_goes_nowhere(
    connect: Connect, code: int, connections: list[Any], lookups: list[Any]
) -> None:
    how = Behaviour()
    judge = connect(how)
    here = connections[-1]
    how.fault = lambda _: fake.status(code, Location="http://elsewhere.example:80/v1")
    with pytest.raises(JudgeError, match=r"HTTP 30\d to http://elsewhere.example:80/v1, not followed") as error:
        judge.ask(QUESTION)
    assert error.value.status is Status.ERROR
    assert set(connections) == {here}
    assert set(lookups) == {"127.0.0.1"}


def test_cookies_are_not_kept(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    how.fault = lambda _: fake.status(500, Set_Cookie="session=1; Path=/")
    with pytest.raises(JudgeError):
        judge.ask(QUESTION)
    how.fault = lambda _: None
    judge.ask(QUESTION)
    assert not any(name.lower() == "cookie" for _, headers, _ in how.seen for name in headers)


def test_the_transport_connects_to_its_own_address_only() -> None:
    """The last line of defence: even a URL that got past everything else goes nowhere."""
    for address in (Address(port=9), Address(unix_path="/nowhere.sock")):
        with http_client(address, 1, 5.0) as http:
            for url in ("http://192.0.2.1/", "http://127.0.0.1:1/", "http://example.org/", "https://127.0.0.1:9/"):
                with pytest.raises(TROUBLE):
                    http.get(url)


def test_closing_closes_every_connection(connect: Connect) -> None:
    judge = connect()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(judge.ask, probes.mixed(8, frozenset({Modality.TEXT}))))
    before = _sockets()
    judge.close()
    assert _sockets() < before


def _sockets() -> int:
    """Sockets of this process."""
    links = (Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd"))
    return sum(link.is_symlink() and os.readlink(link).startswith("socket:") for link in links)
