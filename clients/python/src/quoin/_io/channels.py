"""The gRPC channels of a client: one for each endpoint, with TLS files that may be replaced meanwhile.

A connection does not show that the other side has vanished. So a channel that leaves a call without an answer is
retired: the next call gets another one, and calls in flight still get their answers, if any come.
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from quoin._core.effects import Request
from quoin._core.endpoints import is_loopback
from quoin._core.errors import QuoinError, bad_field, from_status, quoin_error
from quoin._core.wire import Contract, checked_bytes, checked_int32, checked_text, checked_timeout, kind_of
from quoin._generated.contract import DESCRIPTORS

CONTRACT = Contract(DESCRIPTORS)
SENT_BYTES_MAX = 4 * 1024 * 1024
RECEIVED_BYTES_MAX = 16 * 1024 * 1024
# Channels to endpoints that members have named, besides the configured ones.
NAMED_CHANNELS_MAX = 16
TLS_CHECK_SECONDS = 1.0
VERSION = "0.1.0"


@dataclass(frozen=True)
class TlsOptions:
    """Certificates and key, all in PEM, as content or as paths of files. Without any, the system's authorities count.

    Files are read again for new connections, so that replaced ones count; while they cannot be used, the ones before
    do.
    """

    # Certificate authorities to trust instead of the system's.
    ca: bytes | str | None = None
    ca_file: str | None = None
    # The client certificate, which needs its key.
    certificate: bytes | str | None = None
    certificate_file: str | None = None
    key: bytes | str | None = field(default=None, repr=False)
    key_file: str | None = None


@dataclass(frozen=True)
class ChannelOptions:
    """Settings of each connection."""

    # After this much silence, a connection with calls in flight is probed.
    keepalive_time_ms: int = 10_000
    # How long a probe may remain unanswered before the connection counts as lost.
    keepalive_timeout_ms: int = 5_000
    # Largest message, in bytes. Default: 4 MiB to send, which is the limit of the service, and 16 MiB to receive.
    max_message_bytes: int | None = None


class Tls:
    """TLS options that are usable, with what they say at the moment."""

    def __init__(self, options: TlsOptions) -> None:
        if not isinstance(options, TlsOptions):
            raise bad_field("tls", f"must be TlsOptions, not {kind_of(options)}")
        self._options = options
        for name in ("ca", "certificate", "key"):
            if getattr(options, name) is not None and getattr(options, f"{name}_file") is not None:
                raise bad_field("tls", f"must have {name} or {name}_file, not both")
        if (self._given("certificate") is None) != (self._given("key") is None):
            raise bad_field("tls", "needs a certificate and its key together")
        self._checked_at = time.monotonic()
        self._last = self._read()

    def current(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Authorities, key and certificate: the same object as before, unless a file has changed."""
        now = time.monotonic()
        if now - self._checked_at >= TLS_CHECK_SECONDS:
            self._checked_at = now
            try:
                found = self._read()
            except QuoinError:
                # In the middle of a replacement, a file may be missing, or not fit to another one yet.
                return self._last
            if found != self._last:
                self._last = found
        return self._last

    def _given(self, name: str) -> object:
        content = getattr(self._options, name)
        return getattr(self._options, f"{name}_file") if content is None else content

    def _read(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        ca, certificate, key = (self._content(name) for name in ("ca", "certificate", "key"))
        context = ssl.create_default_context()
        try:
            if ca is not None:
                context.load_verify_locations(cadata=ca.decode("ascii", "replace"))
            certificate_file, key_file = self._options.certificate_file, self._options.key_file
            if certificate_file is not None and key_file is not None:
                context.load_cert_chain(certificate_file, key_file, password=_no_password)
        except (ssl.SSLError, OSError) as error:
            raise bad_field("tls", f"cannot be used: {error}") from None
        return ca or _system_authorities(), key, certificate

    def _content(self, name: str) -> bytes | None:
        path = getattr(self._options, f"{name}_file")
        if path is None:
            content = getattr(self._options, name)
            return None if content is None else checked_bytes(content, f"tls.{name}")
        try:
            return Path(checked_text(path, f"tls.{name}_file")).read_bytes()
        except OSError as error:
            raise bad_field("tls", f"cannot be used: {path}: {error.strerror}") from None
        except ValueError as error:
            raise bad_field("tls", f"cannot be used: {path!r}: {error}") from None


def _no_password() -> str:
    """Instead of a question at the terminal, where no person may be."""
    raise bad_field("tls", "cannot be used: the key is encrypted")


def _system_authorities() -> bytes | None:
    """The authorities of the system. None = it names none, and those of gRPC count."""
    found = ssl.create_default_context().get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, found)).encode() or None


class Channel:
    """A gRPC channel, and what is known of the connection behind it."""

    def __init__(self, grpc_channel: Any, endpoint: str, tls: object) -> None:
        self.grpc = grpc_channel
        self.endpoint = endpoint
        self.tls = tls
        self.in_flight = 0
        self.is_retired = False
        self._heard = -math.inf
        self._methods: dict[str, Any] = {}

    def method(self, request: Request, kind: str) -> Any:
        """The callable of a method; `kind` is `unary_unary` or `unary_stream`."""
        found = self._methods.get(request.method)
        if found is None:
            serialize = type(request.message).SerializeToString
            answer = CONTRACT.types_of(request.method)[1]
            found = getattr(self.grpc, kind)(
                request.path, request_serializer=serialize, response_deserializer=answer.FromString
            )
            self._methods[request.method] = found
        return found

    def heard(self) -> None:
        self._heard = time.monotonic()

    def was_silent(self, since: float) -> bool:
        return self._heard < since


class Channels:
    """The channels of one client. May be used by several threads."""

    def __init__(
        self,
        make: Callable[[str, list[tuple[str, Any]], Any], Any],
        dispose: Callable[[Any], None],
        configured: list[str],
        tls: TlsOptions | None,
        options: ChannelOptions | None,
    ) -> None:
        options = options or ChannelOptions()
        if not isinstance(options, ChannelOptions):
            raise bad_field("channel", f"must be ChannelOptions, not {kind_of(options)}")
        self._tls = None if tls is None else Tls(tls)
        self._make = make
        self._dispose = dispose
        self._configured = frozenset(configured)
        self._lock = threading.Lock()
        self._channels: dict[str, Channel] = {}
        # Retired channels with calls in flight.
        self._retired: set[Channel] = set()
        self.is_closed = False
        most = options.max_message_bytes
        if most is not None:
            checked_int32(most, "channel.max_message_bytes")
        checked_timeout(options.keepalive_time_ms, "channel.keepalive_time_ms")
        checked_timeout(options.keepalive_timeout_ms, "channel.keepalive_timeout_ms")
        self._options: list[tuple[str, Any]] = [
            ("grpc.keepalive_time_ms", options.keepalive_time_ms),
            ("grpc.keepalive_timeout_ms", options.keepalive_timeout_ms),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.max_send_message_length", most or SENT_BYTES_MAX),
            ("grpc.max_receive_message_length", most or RECEIVED_BYTES_MAX),
            # A connection that does not open within a second is given up: another member may answer at once.
            ("grpc.min_reconnect_backoff_ms", 1_000),
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 1_000),
            ("grpc.dns_min_time_between_resolutions_ms", 1_000),
            # The SDK itself retries: it must count the attempts, and change the endpoint between them.
            ("grpc.enable_retries", 0),
            ("grpc.service_config_disable_resolution", 1),
            # Closing a client closes its connections; in the pool of the process they would linger.
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.primary_user_agent", f"quoin-python/{VERSION}"),
        ]

    def take(self, endpoint: str) -> Channel:
        """The channel of an endpoint, for one call. `give_back` must follow."""
        tls = None if self._tls is None else self._tls.current()
        with self._lock:
            if self.is_closed:
                raise quoin_error("the client is closed", code="CANCELLED", outcome="not-executed")
            channel = self._channels.get(endpoint)
            if channel is not None and channel.tls is not tls:
                self._retire(channel)
                channel = None
            if channel is None:
                # This machine is always reached directly, without the proxy of the environment.
                proxy = ("grpc.enable_http_proxy", 0 if is_loopback(endpoint) else 1)
                credentials = None if tls is None else grpc.ssl_channel_credentials(*tls)
                channel = Channel(self._make(endpoint, [*self._options, proxy], credentials), endpoint, tls)
                self._channels[endpoint] = channel
                named = [one for at, one in self._channels.items() if at not in self._configured]
                if len(named) > NAMED_CHANNELS_MAX:
                    self._retire(named[0])
            channel.in_flight += 1
            return channel

    def give_back(self, channel: Channel, silent_since: float | None = None) -> None:
        """A call has ended; `silent_since` tells when it began, if it got no answer in time."""
        with self._lock:
            channel.in_flight -= 1
            if silent_since is not None and channel.was_silent(silent_since):
                self._retire(channel)
            if channel.is_retired and channel.in_flight == 0 and channel in self._retired:
                self._retired.discard(channel)
                self._dispose(channel.grpc)

    def close(self) -> list[Any]:
        """Ends the use of all channels, and returns those that are to be closed."""
        with self._lock:
            self.is_closed = True
            found = [channel.grpc for channel in (*self._channels.values(), *self._retired)]
            self._channels.clear()
            self._retired.clear()
            return found

    def _retire(self, channel: Channel) -> None:
        if channel.is_retired:
            return
        channel.is_retired = True
        if self._channels.get(channel.endpoint) is channel:
            del self._channels[channel.endpoint]
        if channel.in_flight == 0:
            self._dispose(channel.grpc)
        else:
            self._retired.add(channel)


def failure(
    code: Any, details: str | None, trailers: Any, channel: Channel, is_closed: bool, is_cancelled: bool
) -> QuoinError:
    """The error of a call that has ended with another status than OK."""
    # An iterator, because some releases of gRPC give a mapping that looks like pairs.
    known: Mapping[str, str | bytes] = dict(iter(trailers or ()))
    if code is grpc.StatusCode.CANCELLED and (is_closed or is_cancelled):
        return quoin_error("the client is closed" if is_closed else "the operation was cancelled", code="CANCELLED")
    if "error-reason" in known or "outcome" in known:
        channel.heard()
    return from_status(code.name, details or "", known, channel.endpoint, CONTRACT)


def closed_channel(channel: Channel, is_closed: bool) -> QuoinError:
    """The error of a call on a channel that was closed before the call was sent."""
    if is_closed:
        return quoin_error("the client is closed", code="CANCELLED", outcome="not-executed")
    text = f"the connection to {channel.endpoint} is closed"
    return quoin_error(text, code="UNAVAILABLE", outcome="not-executed")
