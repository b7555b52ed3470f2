/** HTTP/2 metrics of this host. There are none if another host serves the port. */
import type { Http2Counters } from "../../http2/index.ts";
import { counter, gauge, type Metric } from "../../telemetry/index.ts";

export interface Http2Statistics {
  readonly counters: Http2Counters | null;
}

export const HTTP2_METRICS: readonly Metric<Http2Statistics>[] = [
  gauge({
    name: "quoin_http2_connections",
    help: "Open connections.",
    read: (host) => of(host, ({ connectionsOpened, connectionsClosed }) => connectionsOpened - connectionsClosed),
  }),
  counter({
    name: "quoin_http2_connections_opened_total",
    help: "Connections that were opened, after a successful TLS handshake.",
    read: (host) => of(host, ({ connectionsOpened }) => connectionsOpened),
  }),
  counter({
    name: "quoin_http2_connections_closed_total",
    help: "Connections that were closed, by reason, including those whose TLS handshake failed.",
    labels: ["reason"],
    read: ({ counters }) => byReason(counters?.closedConnections),
  }),
  gauge({
    name: "quoin_http2_streams",
    help: "Open streams.",
    read: (host) => of(host, ({ streamsOpened, streamsClosed }) => streamsOpened - streamsClosed),
  }),
  counter({
    name: "quoin_http2_streams_opened_total",
    help: "Streams that were opened.",
    read: (host) => of(host, ({ streamsOpened }) => streamsOpened),
  }),
  counter({
    name: "quoin_http2_streams_refused_total",
    help: "Streams that the member refused, or reset because of what the client sent, by reason.",
    labels: ["reason"],
    read: ({ counters }) => byReason(counters?.refusedStreams),
  }),
  counter({
    name: "quoin_http2_resets_total",
    help: "Streams that were reset while they were open, by the side that reset them: client or member.",
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
    help: "HTTP/2 bytes, by direction: received or sent.",
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

/** The samples of the reasons that have occurred. */
function byReason(counts: Readonly<Record<string, number>> = {}): Samples {
  return Object.entries(counts).flatMap(([reason, count]) => (count === 0 ? [] : [[[reason], count] as const]));
}
