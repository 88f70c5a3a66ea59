"""The HTTP client and the endpoint embedder, against a server in a thread."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from dojo_kit.embedders import EndpointEmbedder
from dojo_kit.endpoints import Endpoint, endpoint_from_env
from dojo_kit.errors import InputError

KEY = "sk-very-secret-0123456789"

Answer = tuple[int, Any, dict[str, str]] | Callable[[dict[str, Any]], Any]
"""Status, body and headers; or what makes the body of a good answer from the request."""


def embed(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as the API does, in reverse order, with vectors that tell the length of the text."""
    data = [
        {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0, 0.0]}
        for index, text in enumerate(request["input"])
    ]
    return {"object": "list", "model": request["model"], "data": data[::-1]}


class Server(ThreadingHTTPServer):
    """Gives the answers of a script, then good ones, and records what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        server = self.server
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append(request)
        server.headers.append(dict(self.headers))
        server.paths.append(self.path)
        answer = server.script.pop(0) if server.script else embed
        if callable(answer):
            answer = (200, answer(request), {})
        status, body, headers = answer
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def waits() -> list[float]:
    """Seconds the client would have waited."""
    return []


@pytest.fixture
def endpoint(server: Server, waits: list[float]) -> Endpoint:
    return Endpoint(server.url, KEY, timeout_s=10, sleep=waits.append)


def error(status: int, message: str, **headers: str) -> Answer:
    return status, {"error": {"message": message}}, {name.replace("_", "-"): value for name, value in headers.items()}


def test_vectors_are_units_in_the_order_of_the_texts(server: Server, endpoint: Endpoint) -> None:
    vectors = EndpointEmbedder("small", endpoint).encode(["abc", "a"])

    assert vectors.dtype == np.float32
    assert vectors[:, 0] == pytest.approx([3 / 10**0.5, 1 / 2**0.5])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert server.requests == [{"model": "small", "input": ["abc", "a"]}]
    assert server.paths == ["/v1/embeddings"]


def test_many_texts_are_sent_in_batches(server: Server, endpoint: Endpoint) -> None:
    texts = ["x" * (1 + index % 7) for index in range(300)]
    seen: list[tuple[int, int]] = []

    vectors = EndpointEmbedder("small", endpoint, progress=lambda *at: seen.append(at)).encode(texts)

    assert [len(request["input"]) for request in server.requests] == [128, 128, 44]
    assert seen == [(0, 300), (128, 300), (256, 300), (300, 300)]
    assert vectors[:, 0] / vectors[:, 1] == pytest.approx([len(text) for text in texts])


def test_text_of_any_kind_arrives(server: Server, endpoint: Endpoint) -> None:
    EndpointEmbedder("small", endpoint).encode(["\u65e5\u672c \U0001f600", 'a"\n\x00', "\ud800"])

    assert server.requests[0]["input"] == ["\u65e5\u672c \U0001f600", 'a"\n\x00', "?"]


def test_nothing_is_sent_for_no_texts_or_a_blank_one(server: Server, endpoint: Endpoint) -> None:
    assert EndpointEmbedder("small", endpoint).encode([]).shape == (0, 0)
    with pytest.raises(InputError, match="text 1 is blank"):
        EndpointEmbedder("small", endpoint).encode(["a", " \n"])
    assert server.requests == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again(server: Server, endpoint: Endpoint, waits: list[float], status: int) -> None:
    server.script = [error(status, "later"), error(status, "later")]

    EndpointEmbedder("small", endpoint).encode(["a"])

    assert len(server.requests) == 3
    assert waits == [0.5, 1.0]


def test_the_schedule_has_an_end(server: Server, endpoint: Endpoint, waits: list[float]) -> None:
    server.script = [error(500, f"broken {attempt}") for attempt in range(9)]

    with pytest.raises(InputError, match=r"/v1/embeddings: HTTP 500.*\(broken 4\); gave up after 5 attempts"):
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert waits == [0.5, 1, 2, 4]


def test_retry_after_in_seconds_is_waited_for(server: Server, endpoint: Endpoint, waits: list[float]) -> None:
    server.script = [error(429, "slow down", Retry_After="7"), error(429, "slow down", Retry_After="0.1")]

    EndpointEmbedder("small", endpoint).encode(["a"])

    assert waits == [7, 1.0]


def test_retry_after_as_a_date_is_waited_for(server: Server, endpoint: Endpoint, waits: list[float]) -> None:
    server.script = [error(503, "down", Retry_After=formatdate(time.time() + 30, usegmt=True))]

    EndpointEmbedder("small", endpoint).encode(["a"])

    assert 20 < waits[0] <= 30


def test_a_server_that_asks_for_an_hour_is_not_waited_for(
    server: Server, endpoint: Endpoint, waits: list[float]
) -> None:
    server.script = [error(429, "daily quota", Retry_After="3600")]

    with pytest.raises(InputError, match=r"daily quota.*asks to wait 3600 s"):
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert waits == []


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(400, "refuses the request"), (401, "refuses the key"), (403, "no access"), (404, "no such address or model")],
)
def test_what_will_not_pass_is_an_error_at_once(server: Server, endpoint: Endpoint, status: int, meaning: str) -> None:
    server.script = [error(status, "said the server")]

    with pytest.raises(InputError, match=rf"HTTP {status}: .*{meaning} \(said the server\)"):
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert len(server.requests) == 1


def test_a_time_out_is_tried_again_and_named(server: Server, waits: list[float]) -> None:
    def hang(request: dict[str, Any]) -> Any:
        server.release.wait(10)
        return embed(request)

    server.script = [hang, hang]
    endpoint = Endpoint(server.url, KEY, timeout_s=0.05, attempts=2, sleep=waits.append)

    with pytest.raises(InputError, match=r"no answer within 0.05 s; gave up after 2 attempts"):
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert waits == [0.5]


def test_a_connection_that_breaks_off_is_tried_again(server: Server, endpoint: Endpoint, waits: list[float]) -> None:
    server.script = [(200, b"{}", {"Content-Length": "1000"})]

    EndpointEmbedder("small", endpoint).encode(["a"])

    assert waits == [0.5]


def test_no_server(server: Server, waits: list[float]) -> None:
    server.server_close()
    endpoint = Endpoint(server.url, KEY, attempts=2, sleep=waits.append)

    with pytest.raises(InputError, match=r"cannot reach the server: .*refused.*; gave up after 2 attempts"):
        EndpointEmbedder("small", endpoint).encode(["a"])


def _data(*vectors: Any) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>welcome</html>", "the answer is not JSON: <html>welcome</html>; expected a JSON object"),
        (b"", "the answer is not JSON: nothing"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        ([1], "holds no vectors"),
        ({"object": "list"}, "holds no vectors"),
        ({"data": [1, 2]}, "holds no vectors"),
        (_data([1, 0]), "1 vectors for 2 texts; expected one vector per text"),
        (_data([1, 0], [1, 0], [1, 0]), "3 vectors for 2 texts"),
        ({"data": [{"index": 1, "embedding": [1]}] * 2}, "indices of the vectors are not those of the texts"),
        ({"data": [{"index": [], "embedding": [1]}] * 2}, "indices of the vectors are not those of the texts"),
        (_data([1, 0], [1]), "vectors of different length"),
        (_data([], []), "none at all"),
        (_data("AACAPw==", "AACAPw=="), "none at all"),
        (_data([1, "2"], [1, 2]), "something else than numbers"),
        (_data([1, True], [1, 2]), "something else than numbers"),
        (_data([0, 0], [1, 2]), "zero or infinite"),
        (_data([1e308, 1e308], [1, 2]), "zero or infinite"),
        (_data([10**400, 1], [1, 2]), "zero or infinite"),
    ],
)
def test_a_bad_answer_says_what_is_wrong(server: Server, endpoint: Endpoint, body: Any, message: str) -> None:
    server.script = [(200, body, {})]

    with pytest.raises(InputError) as caught:
        EndpointEmbedder("small", endpoint).encode(["a", "b"])

    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{server.url}/embeddings: ")
    assert len(server.requests) == 1


def test_the_dimension_may_not_change(server: Server, endpoint: Endpoint) -> None:
    embedder = EndpointEmbedder("small", endpoint)
    embedder.encode(["a"])
    server.script = [(200, _data([1, 0]), {})]

    with pytest.raises(InputError, match="vectors of 2 components after ones of 3"):
        embedder.encode(["b"])


def test_answers_without_index_keep_their_order(server: Server, endpoint: Endpoint) -> None:
    server.script = [(200, {"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}, {})]

    assert EndpointEmbedder("small", endpoint).encode(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_the_key_is_sent_and_never_shown(server: Server, endpoint: Endpoint) -> None:
    echo = f"Incorrect API key provided: {KEY}."
    server.script = [
        error(401, echo),
        (400, echo.encode(), {}),
        (200, f"{'x' * 290}{KEY}".encode(), {}),
        (302, b"", {"Location": f"http://elsewhere/?key={KEY}"}),
    ]
    embedder = EndpointEmbedder("small", endpoint)
    errors = []
    for _ in range(4):
        with pytest.raises(InputError) as caught:
            embedder.encode(["a"])
        errors.append(str(caught.value))

    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    shown = "\n".join([*errors, repr(embedder), embedder.name, repr(endpoint), str(endpoint)])
    assert KEY not in shown
    assert KEY[:8] not in shown
    assert "key provided: ***" in errors[0]


def test_without_a_key_no_header_is_sent(server: Server) -> None:
    EndpointEmbedder("small", Endpoint(server.url)).encode(["a"])

    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: Server, endpoint: Endpoint, status: int) -> None:
    server.script = [(status, b"", {"Location": f"{server.url}/other"})]

    with pytest.raises(InputError, match=rf"HTTP {status}: the server redirects to .*/other; expected its final"):
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert len(server.requests) == 1


def test_what_a_server_says_cannot_steer_a_terminal(server: Server, endpoint: Endpoint) -> None:
    server.script = [error(400, "\x1b[2J\x1b]0;title\x07 bad\r\nrequest")]

    with pytest.raises(InputError) as caught:
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": "a"}, "(a)"),
        ({"message": "b"}, "(b)"),
        ({"detail": [{"msg": "c"}]}, '([{"msg": "c"}])'),
        (b"plain text", "(plain text)"),
        ("x" * 1000, f"({'x' * 300})"),
    ],
)
def test_explanations_of_many_servers_are_quoted(server: Server, endpoint: Endpoint, body: Any, said: str) -> None:
    server.script = [(400, body, {})]

    with pytest.raises(InputError) as caught:
        EndpointEmbedder("small", endpoint).encode(["a"])

    assert str(caught.value).endswith(said)


@pytest.mark.parametrize(
    ("env", "place", "key"),
    [
        ({"OPENAI_API_KEY": "a"}, "api.openai.com/v1", "a"),
        ({"OPENAI_BASE_URL": "http://h/v1/", "OPENAI_API_KEY": "a"}, "h/v1", "a"),
        ({"OPENAI_BASE_URL": "http://h/v1"}, "h/v1", ""),
        ({"OPENAI_API_KEY": "a", "DOJO_KIT_EMBEDDING_API_KEY": "b"}, "api.openai.com/v1", "b"),
        ({"DOJO_KIT_EMBEDDING_BASE_URL": "http://g/v1", "DOJO_KIT_EMBEDDING_API_KEY": "b"}, "g/v1", "b"),
        ({"DOJO_KIT_EMBEDDING_BASE_URL": "http://g/v1", "OPENAI_API_KEY": "a"}, "g/v1", ""),
    ],
)
def test_address_and_key_come_from_the_environment(env: dict[str, str], place: str, key: str) -> None:
    """A key is never sent to an address it was not set for."""
    endpoint = endpoint_from_env("embedding", env=env)

    assert (endpoint.place, endpoint.key) == (place, key)


def test_without_a_key_the_error_names_the_variables() -> None:
    with pytest.raises(InputError, match=r"no key for api.openai.com/v1.*OPENAI_API_KEY or DOJO_KIT_EMBEDDING_API_KEY"):
        endpoint_from_env("embedding", env={})


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "file:///etc/passwd", "ftp://h/v1", "http://", "http://h:port", "http://h/a b"]
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="no web address"):
        Endpoint(url)


@pytest.mark.parametrize("url", [f"http://user:{KEY}@h/v1", f"http://h/v1?key={KEY}"])
def test_an_address_with_a_secret_in_it_is_refused_unseen(url: str) -> None:
    with pytest.raises(InputError, match="password or a query") as caught:
        Endpoint(url)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "\u00e9"])
def test_a_key_that_is_no_token_is_refused_unseen(key: str) -> None:
    with pytest.raises(InputError, match="key of the endpoint holds") as caught:
        Endpoint("http://h/v1", key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("options", [{"attempts": 0}, {"timeout_s": 0}, {"timeout_s": float("nan")}])
def test_an_endpoint_needs_an_attempt_and_time(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="at least one attempt and a positive time-out"):
        Endpoint("http://h/v1", **options)
