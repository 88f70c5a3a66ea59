"""The one HTTP client: JSON posted to an OpenAI-compatible endpoint, tried again when that may help.

Only the standard library is used. Answers 408, 429 and 5xx, time-outs and broken connections are tried again on a
fixed schedule (0.5, 1, 2, 4 ... seconds, without jitter, so that a run can be repeated); a longer ``Retry-After``
is waited for. Everything else is an error at once. Redirects are not followed, since they would carry the key to
another host. The key is never part of a message, a name or a repr, and is cut out of what a server says.
"""

from __future__ import annotations

import json
import math
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from dojo_kit._version import __version__
from dojo_kit.errors import InputError

OPENAI_URL = "https://api.openai.com/v1"
"""Where requests go when no base URL is set; it asks for a key."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
"""A server that asks to be left alone for longer than this is not waited for."""

SHOWN_CHARS = 300
"""How much of a server's explanation a message quotes."""

_MEANING = {
    400: "the server refuses the request",
    401: "the server refuses the key",
    403: "the key has no access",
    404: "no such address or model",
    413: "the request is too large",
    429: "too many requests, or the quota is used up",
}


class _Transient(Exception):
    """A failure after which the same request may succeed."""

    def __init__(self, message: str, *, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        return None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server.

    Attributes:
        base_url: Address in front of ``/embeddings`` or ``/chat/completions``, e.g. ``http://localhost:8000/v1``.
        key: Bearer token; empty sends none.
        timeout_s: Seconds without an answer after which a request has failed.
        attempts: How often a request is tried in all.
        sleep: Waits for some seconds.

    Raises:
        InputError: The address is not one of HTTP or HTTPS, or holds a password or query; the key is no token;
            there is no attempt, or no time.

    Examples:
        >>> Endpoint("http://localhost:8000/v1/", "secret")
        Endpoint(base_url='http://localhost:8000/v1', timeout_s=60.0, attempts=5)
    """

    base_url: str
    key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    attempts: int = 5
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", self.base_url.strip().rstrip("/"))
        object.__setattr__(self, "key", self.key.strip())
        _check_url(self.base_url)
        if not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise InputError("the key of the endpoint holds spaces or special characters", expected="a plain token")
        if self.attempts < 1 or not 0 < self.timeout_s < math.inf:
            found = f"{self.attempts} attempts and a time-out of {self.timeout_s:g} s"
            raise InputError(found, expected="at least one attempt and a positive time-out")

    @property
    def place(self) -> str:
        """Host, port and path, without the scheme."""
        return self.base_url.partition("://")[2]

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Post a JSON body and return the decoded JSON answer.

        Args:
            path: Path after the base URL, e.g. ``/embeddings``.
            body: JSON-ready values.

        Raises:
            InputError: The server refused, could not be reached, or did not answer in JSON.
        """
        url = self.base_url + path
        data = json.dumps(body, allow_nan=False).encode()
        wait_s = FIRST_WAIT_S
        for attempt in range(1, self.attempts + 1):
            try:
                return self._post_once(url, data)
            except _Transient as failure:
                pause_s = max(wait_s, failure.wait_s)
                if attempt == self.attempts or pause_s > LONGEST_WAIT_S:
                    raise InputError(_gave_up(failure, attempt), file=url) from None
            self.sleep(pause_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        raise AssertionError("attempts is at least 1")

    def _post_once(self, url: str, data: bytes) -> Any:
        headers = {"Content-Type": "application/json", "User-Agent": f"dojo_kit/{__version__}"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = Request(url, data, headers, method="POST")  # noqa: S310 - the scheme was checked
        try:
            with build_opener(_NoRedirect).open(request, timeout=self.timeout_s) as response:
                answer: bytes = response.read()
        except HTTPError as error:
            raise self._refusal(url, error) from None
        except TimeoutError:
            raise _Transient(f"no answer within {self.timeout_s:g} s") from None
        except URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                raise InputError(f"the server's certificate is not trusted: {error.reason}", file=url) from None
            late = isinstance(error.reason, TimeoutError)
            raise _Transient(f"no answer within {self.timeout_s:g} s" if late else _unreachable(error.reason)) from None
        except (OSError, HTTPException) as error:
            raise _Transient(_unreachable(error)) from None
        return self._decoded(answer, url)

    def _refusal(self, url: str, error: HTTPError) -> InputError | _Transient:
        """Turn an HTTP error into what it means."""
        with error:
            try:
                said = _explanation(self._text(error.read()))
            except (OSError, HTTPException):
                said = ""
        code = error.code
        message = f"HTTP {code}: {_MEANING.get(code, error.reason or 'error')}" + (f" ({said})" if said else "")
        if code in (408, 429) or code >= 500:
            return _Transient(message, wait_s=_retry_after_s(error.headers.get("Retry-After")))
        if 300 <= code < 400:
            target = _printable(self._without_key(error.headers.get("Location") or "elsewhere"))
            return InputError(f"HTTP {code}: the server redirects to {target}", file=url, expected="its final address")
        return InputError(message, file=url)

    def _decoded(self, answer: bytes, url: str) -> Any:
        try:
            return json.loads(answer, parse_constant=_refuse)
        except (ValueError, RecursionError):
            start = _printable(self._text(answer)) or "nothing"
            raise InputError(f"the answer is not JSON: {start}", file=url, expected="a JSON object") from None

    def _text(self, answer: bytes) -> str:
        return self._without_key(answer.decode("utf-8", "replace"))

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "***") if self.key else text


def endpoint_from_env(purpose: str, *, env: Mapping[str, str] | None = None) -> Endpoint:
    """Read address and key of an endpoint from the environment.

    ``DOJO_KIT_<PURPOSE>_BASE_URL`` and ``DOJO_KIT_<PURPOSE>_API_KEY`` come before ``OPENAI_BASE_URL`` and
    ``OPENAI_API_KEY``. Where the first address is set, the OpenAI key stays at home: it belongs to another host.

    Args:
        purpose: What the endpoint is for, e.g. ``embedding``.
        env: Environment variables; the process's own by default.

    Raises:
        InputError: The OpenAI server is meant and no key is set, or the address is none.

    Examples:
        >>> env = {"OPENAI_API_KEY": "a", "DOJO_KIT_EMBEDDING_BASE_URL": "http://localhost:8000/v1"}
        >>> endpoint = endpoint_from_env("embedding", env=env)
        >>> endpoint.place, endpoint.key
        ('localhost:8000/v1', '')
    """
    env = os.environ if env is None else env
    url_name, key_name = f"DOJO_KIT_{purpose.upper()}_BASE_URL", f"DOJO_KIT_{purpose.upper()}_API_KEY"
    url, key = env.get(url_name, ""), env.get(key_name, "")
    if not url:
        url, key = env.get("OPENAI_BASE_URL") or OPENAI_URL, key or env.get("OPENAI_API_KEY", "")
    endpoint = Endpoint(url, key)
    if endpoint.base_url == OPENAI_URL and not endpoint.key:
        raise InputError(
            f"no key for {endpoint.place}",
            expected=f"one in OPENAI_API_KEY or {key_name}, or another server's address in {url_name}",
        )
    return endpoint


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError("the base URL of the endpoint is no web address", expected="http://host/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError("the base URL of the endpoint holds a password or a query", expected="only host and path")


def _retry_after_s(value: str | None) -> float:
    """Read a ``Retry-After`` header: seconds, or a date.

    Examples:
        >>> _retry_after_s("7"), _retry_after_s("soon"), _retry_after_s(None), _retry_after_s("-1")
        (7.0, 0.0, 0.0, 0.0)
    """
    try:
        seconds = float(value or 0)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value or "").timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0


def _gave_up(failure: _Transient, attempts: int) -> str:
    if failure.wait_s > LONGEST_WAIT_S:
        return f"{failure}; the server asks to wait {failure.wait_s:.0f} s"
    return f"{failure}; gave up after {attempts} attempt{'s' if attempts > 1 else ''}"


def _unreachable(reason: object) -> str:
    return f"cannot reach the server: {_printable(str(reason))}"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _explanation(text: str) -> str:
    """Find what a server says about an error: ``error`` (``.message``), ``message`` or ``detail``, else the text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _printable(text)
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return _printable(found if isinstance(found, str) else json.dumps(found))


def _printable(text: str) -> str:
    """Cut a foreign text and drop what could steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text[: 4 * SHOWN_CHARS])[:SHOWN_CHARS].strip()
