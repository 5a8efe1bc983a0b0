"""`serve`, which serves batches to clients.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import contextlib
import secrets
from typing import Any, Literal

from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds
from colkern.dissociated.messages import BodyType
from colkern.dissociated.sending import StreamOptions, Streams
from colkern.dissociated.server import Server, Service
from colkern.dissociated.sources import Catalogue, Source
from colkern.dissociated.transports import transport_of
from colkern.dissociated.uri import ServiceUri, parse_address
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.writing.data import WriteOptions

DEFAULT_MAX_CONNECTIONS = 512

_BODY_TYPES = {"packed": BodyType.PACKED, "locations": BodyType.LOCATIONS}


def serve(
    source: Source,
    uri: str = "tcp://127.0.0.1:0",
    *,
    data_uri: str | None = None,
    streams: Streams = "both",
    bodies: Literal["packed", "locations"] | None = None,
    bodies_first: bool = False,
    token: str | bytes = b"",
    remote: bool = False,
    timeout: float = 30.0,
    heartbeat: float = 5.0,
    max_connections: int = DEFAULT_MAX_CONNECTIONS,
    bounds: Bounds = DEFAULT_BOUNDS,
    limits: Limits = DEFAULT_LIMITS,
    **options: Any,
) -> Server:
    """Serve record batches by the Dissociated IPC protocol; returns at once.

    >>> import colkern.dissociated as dissociated
    >>> with dissociated.serve("table.arrow", "shm:") as server:  # doctest: +SKIP
    ...     print(server.uri)

    Args:
        source: A path of an IPC file or stream (mapped, and announced where it is); a batch or list of
            batches; a `RecordBatchStream` of a schema and a generator, or any iterable of batches; an
            object with Arrow's PyCapsule interface. Or a mapping from identifiers to sources, or a
            callable that takes an identifier (bytes) and returns a source. Iterators are sent to one
            client, all other sources to any number.
        uri: The address: `tcp://host:port`, `unix:///path`, `unix://@name`, `shm:///path`,
            `shm://@name`, `cuda:///path`, `cuda://@name`, `ucx://host:port` or `inproc://name`. Missing
            parts are chosen automatically. Tags may be given as parameters.
        data_uri: The address of a second service for bodies; clients send a request to both, and may
            read either stream first. None for a single service.
        streams: The streams that clients get here, if the others are served elsewhere, from equal
            batches.
        bodies: "packed", or "locations" if memory can be shared; None for the transport's default.
        bodies_first: Whether to send a body before its metadata, if both share a connection.
        token: The token that clients need.
        remote: Whether other machines may connect; that needs a token.
        timeout: The seconds within which a client must send its request, also to the other service.
        heartbeat: The seconds between signs to clients that the server is alive. If the source can be
            read only once, a client that reads all metadata before the bodies, or the reverse, may wait
            up to twice as long, once.
        max_connections: The most connections at a time; a client of two services has two. Each takes
            one or two threads, and a source that is read once for two connections takes one more.
            Further connections are refused.
        bounds: The bounds of each stream.
        limits: The limits on files that are served.
        options: See `colkern.ipc.WriteOptions`.

    Memory that is announced by its location must not change until the client has freed it.

    Raises:
        DeviceUnavailableError: If the scheme is `cuda`, and there is no device.
        OSError: If the address is not available.
        InvalidArrowError: If a URI is malformed.
        ValueError: If a URI or an option is invalid, or other machines could connect without `remote`.
    """
    if remote and not token:
        raise ValueError("token: a service for other machines needs one")
    if max_connections < 1:
        raise ValueError(f"max_connections: expected at least 1, got {max_connections}")
    transport_named = transport_of(parse_address(data_uri or uri)[0])
    write_options = WriteOptions(**options)
    body_type = transport_named.body_type if bodies is None else _BODY_TYPES[bodies]
    if body_type is BodyType.LOCATIONS and write_options.compression is not None:
        raise ValueError(
            "compression: bodies of locations are not compressed; pass bodies='packed'"
        )
    stream_options = StreamOptions(body_type, write_options, bounds, bodies_first)
    return start_server(
        source if isinstance(source, Catalogue) else Catalogue(source, limits),
        [uri] if data_uri is None else [uri, data_uri],
        streams,
        stream_options,
        token=token,
        remote=remote,
        timeout=timeout,
        heartbeat=heartbeat,
        max_connections=max_connections,
    )


def start_server(
    catalogue: Catalogue,
    uris: list[str],
    streams: Streams,
    options: StreamOptions,
    *,
    token: str | bytes,
    remote: bool,
    timeout: float,
    heartbeat: float,
    max_connections: int = DEFAULT_MAX_CONNECTIONS,
) -> Server:
    """As `serve`, with `StreamOptions`."""
    roles: list[Streams] = [streams] if len(uris) == 1 else ["metadata", "bodies"]
    services: list[Service] = []
    try:
        for uri, role in zip(uris, roles, strict=True):
            services.append(_service(uri, role, options, remote))
    except BaseException:
        for service in services:
            service.listener.close()
        raise
    secret = token.encode() if isinstance(token, str) else token
    return Server(
        catalogue,
        services,
        options,
        token=secret,
        timeout=timeout,
        heartbeat=heartbeat,
        max_connections=max_connections,
    )


def _service(text: str, streams: Streams, options: StreamOptions, remote: bool) -> Service:
    scheme, address, want_data, free_data = parse_address(text)
    transport = transport_of(scheme)
    locations = streams != "metadata" and options.body_type is BodyType.LOCATIONS
    if locations and transport.body_type is not BodyType.LOCATIONS:
        raise ValueError(f"bodies: {scheme} shares no memory, so bodies are packed")
    want_data = secrets.randbits(64) if want_data is None else want_data
    if locations and free_data is None:
        free_data = want_data ^ 1
    listener = transport.listen(address, bounds=options.bounds, remote=remote)
    with contextlib.ExitStack() as stack:
        stack.callback(listener.close)
        uri = ServiceUri(scheme, listener.address, want_data, free_data, listener.remote_handle)
        stack.pop_all()
    return Service(transport, listener, uri, streams)
