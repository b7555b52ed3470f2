/** Metrics of the HTTP/2 under this host. There are none where the port is served by another one. */
import type { Http2Counters } from "../../http2/index.ts";
import { counter, gauge, type Metric } from "../../telemetry/index.ts";

export interface Http2Statistics {
  readonly counters: Http2Counters | null;
}

export const HTTP2_METRICS: readonly Metric<Http2Statistics>[] = [
  gauge({
    name: "quoin_http2_connections",
    help: "Connections that are open.",
    read: (host) => of(host, ({ connectionsOpened, connectionsClosed }) => connectionsOpened - connectionsClosed),
  }),
  counter({
    name: "quoin_http2_connections_opened_total",
    help: "Connections that were opened, behind the handshake of TLS.",
    read: (host) => of(host, ({ connectionsOpened }) => connectionsOpened),
  }),
  counter({
    name: "quoin_http2_connections_closed_total",
    help: "Connections that were closed, by reason; those whose handshake of TLS failed included.",
    labels: ["reason"],
    read: ({ counters }) => byReason(counters?.closedConnections),
  }),
  gauge({
    name: "quoin_http2_streams",
    help: "Streams that are open.",
    read: (host) => of(host, ({ streamsOpened, streamsClosed }) => streamsOpened - streamsClosed),
  }),
  counter({
    name: "quoin_http2_streams_opened_total",
    help: "Streams that were opened.",
    read: (host) => of(host, ({ streamsOpened }) => streamsOpened),
  }),
  counter({
    name: "quoin_http2_streams_refused_total",
    help: "Streams that the member reset because of what the client sent, or did not let begin, by reason.",
    labels: ["reason"],
    read: ({ counters }) => byReason(counters?.refusedStreams),
  }),
  counter({
    name: "quoin_http2_resets_total",
    help: "Streams that were reset while they were open, by who reset them: the client or the member.",
    labels: ["by"],
    read: ({ counters }) =>
      counters === null
        ? []
        : [
            [["client"], counters.resetsReceived],
            [["member"], counters.resetsSent],
          ],
  }),
  counter({
    name: "quoin_http2_bytes_total",
    help: "Bytes of HTTP/2, by direction: received or sent.",
    labels: ["direction"],
    read: ({ counters }) =>
      counters === null
        ? []
        : [
            [["received"], counters.bytesReceived],
            [["sent"], counters.bytesSent],
          ],
  }),
];

type Samples = readonly (readonly [readonly string[], number])[];

function of({ counters }: Http2Statistics, read: (counters: Http2Counters) => number): Samples {
  return counters === null ? [] : [[[], read(counters)]];
}

/** Those that have happened. */
function byReason(counts: Readonly<Record<string, number>> = {}): Samples {
  return Object.entries(counts).flatMap(([reason, count]) => (count === 0 ? [] : [[[reason], count] as const]));
}
