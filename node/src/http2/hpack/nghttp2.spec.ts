/**
 * The decoder and the encoder against another implementation: nghttp2, which is part of Node. Node is one end of a
 * connection. The other end sends and receives frames byte by byte, and uses only our HPACK.
 */
import { EventEmitter, once } from "node:events";
import http2 from "node:http2";
import { type Duplex, duplexPair } from "node:stream";
import { expect } from "chai";
import fc from "fast-check";
import { HeaderDecoder, HeaderEncoder } from "./index.ts";
import { STATIC_NAMES } from "./static-table.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME_HEAD_BYTES = 9;
const FRAME_BYTES_MAX = 16_384;
const HEADERS = 1;
const SETTINGS = 4;
const CONTINUATION = 9;
const ACK = 0x1;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;
const PRIORITY_BYTES = 5;
const HEADER_TABLE_SIZE = 1;
const LIST_BYTES_MAX = 100_000;

interface Sizes {
  /** The SETTINGS_HEADER_TABLE_SIZE of this end. */
  readonly announced: number;
  /** Maximum table size of its encoder. */
  readonly own: number;
}

/** One end of a connection: just enough of RFC 9113 for header blocks. */
class RawEnd extends EventEmitter<{ fields: [streamId: number, fields: readonly string[]]; error: [unknown] }> {
  readonly #duplex: Duplex;
  readonly #decoder: HeaderDecoder;
  readonly #encoder: HeaderEncoder;
  readonly #announced: number;
  #unread: Buffer;
  #prefaceBytes: number;
  #fragments: Buffer[] = [];
  #isAnnounced = false;
  /** SETTINGS of the peer that arrived before ours were sent: ours must be the first frame (RFC 9113 §3.4). */
  #unacknowledged = 0;

  constructor(duplex: Duplex, isClient: boolean, { announced, own }: Sizes) {
    super();
    this.#duplex = duplex;
    this.#announced = announced;
    this.#decoder = new HeaderDecoder({ tableBytesMax: announced, listBytesMax: LIST_BYTES_MAX });
    this.#encoder = new HeaderEncoder({ tableBytesMax: own, withoutIndexing: new Set(["x-differs"]) });
    this.#unread = Buffer.alloc(0);
    this.#prefaceBytes = isClient ? 0 : PREFACE.length;
    if (isClient) {
      duplex.write(PREFACE);
    }
    duplex.on("data", (data: Buffer) => this.#receive(data));
  }

  announce(): void {
    const payload = Buffer.alloc(6);
    payload.writeUInt16BE(HEADER_TABLE_SIZE, 0);
    payload.writeUInt32BE(this.#announced, 2);
    this.#send(SETTINGS, 0, 0, payload);
    this.#isAnnounced = true;
    this.#acknowledge();
  }

  #acknowledge(): void {
    for (; this.#isAnnounced && this.#unacknowledged > 0; this.#unacknowledged--) {
      this.#send(SETTINGS, ACK, 0, Buffer.alloc(0));
    }
  }

  /** Sends a message with only these fields. */
  sendFields(streamId: number, fields: readonly string[]): void {
    const block = Buffer.alloc(this.#encoder.boundOf(fields));
    const end = this.#encoder.encode(fields, block, 0);
    expect(end).to.be.at.most(FRAME_BYTES_MAX);
    this.#send(HEADERS, END_STREAM | END_HEADERS, streamId, block.subarray(0, end));
  }

  #send(type: number, flags: number, streamId: number, payload: Buffer): void {
    const head = Buffer.alloc(FRAME_HEAD_BYTES);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(streamId, 5);
    this.#duplex.write(Buffer.concat([head, payload]));
  }

  #receive(data: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, data]);
    if (this.#unread.length < this.#prefaceBytes) {
      return;
    }
    this.#unread = this.#unread.subarray(this.#prefaceBytes);
    this.#prefaceBytes = 0;
    while (this.#unread.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#unread.readUIntBE(0, 3);
      if (this.#unread.length < end) {
        return;
      }
      const frame = this.#unread.subarray(0, end);
      this.#unread = this.#unread.subarray(end);
      try {
        this.#accept(frame.readUInt8(3), frame.readUInt8(4), frame.readUInt32BE(5), frame.subarray(FRAME_HEAD_BYTES));
      } catch (error) {
        this.emit("error", error);
      }
    }
  }

  #accept(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (type === SETTINGS && (flags & ACK) !== 0) {
      this.#decoder.acknowledgeSettings();
    } else if (type === SETTINGS) {
      for (let at = 0; at < payload.length; at += 6) {
        if (payload.readUInt16BE(at) === HEADER_TABLE_SIZE) {
          this.#encoder.setPeerTableBytesMax(payload.readUInt32BE(at + 2));
        }
      }
      this.#unacknowledged++;
      this.#acknowledge();
    } else if (type === HEADERS || type === CONTINUATION) {
      expect(flags & PADDED).to.equal(0);
      this.#fragments.push(payload.subarray((flags & PRIORITY) !== 0 ? PRIORITY_BYTES : 0));
      if ((flags & END_HEADERS) !== 0) {
        const block = Buffer.concat(this.#fragments);
        this.#fragments = [];
        const { fields, isTooLarge } = this.#decoder.decode(block, 0, block.length);
        expect(isTooLarge).to.equal(false);
        this.emit("fields", streamId, fields);
      }
    }
  }
}

const token = fc.string({ unit: fc.constantFrom(..."abcxyz0189-_."), maxLength: 20 });
const name = fc.oneof(
  fc.constantFrom("user-agent", "accept-encoding", "cache-control", "grpc-timeout", "x-differs", "x-repeats"),
  token.map((rest) => `x-${rest}`),
);
/** RFC 9113 §8.2.1 forbids white space at both ends. */
const value = fc.oneof(
  fc.constantFrom("", "identity, gzip", "10S", "gzip, deflate", "v".repeat(500)),
  fc
    .string({ unit: fc.constantFrom(..."az AZ09~!{}\\^|<>\t\xe9\xff\x80"), maxLength: 60 })
    .map((text) => text.replaceAll(/^[ \t]+|[ \t]+$/g, "")),
);
const fieldsOf = fc
  .uniqueArray(fc.tuple(name, value), { maxLength: 10, selector: ([each]) => each })
  .map((fields) => fields.flat());
const tableSize = fc.constantFrom(0, 60, 200, 1_000, 4_096, 20_000);

const exchange = fc.record({
  path: fc.constantFrom("/quoin.v1.KeyValueService/Get", "/quoin.v1.KeyValueService/Put", "/"),
  asked: fieldsOf,
  answered: fieldsOf,
  status: fc.constantFrom("200", "404", "418"),
  /** The table size that Node announces before it answers; absent = none. */
  tableSize: fc.option(tableSize, { freq: 2 }),
});
const connection = fc.record({
  sizes: fc.record({ announced: tableSize, own: tableSize }),
  exchanges: fc.array(exchange, { minLength: 1, maxLength: 10 }),
  /** Whether our end, as a server, has the first request before it sends its SETTINGS. */
  announcesLate: fc.boolean(),
});

function objectOf(fields: readonly string[]): Record<string, string> {
  const object: Record<string, string> = {};
  for (let at = 0; at < fields.length; at += 2) {
    object[fields[at] as string] = fields[at + 1] as string;
  }
  return object;
}

async function changeTableSize(session: http2.Http2Session, headerTableSize: number | null): Promise<void> {
  if (headerTableSize !== null) {
    await new Promise<void>((resolve, reject) => {
      session.settings({ headerTableSize }, (error) => (error === null ? resolve() : reject(error)));
    });
  }
}

describe("HPACK, with nghttp2 at the other end", () => {
  it("understands the requests of a client, and its answers are understood", async () => {
    await fc.assert(
      fc.asyncProperty(connection, async ({ sizes, exchanges, announcesLate }) => {
        const [near, far] = duplexPair();
        const server = new RawEnd(near, false, sizes);
        const client = http2.connect("http://localhost", { createConnection: () => far });
        try {
          for (const [at, { path, asked, answered, status, tableSize: nextSize }] of exchanges.entries()) {
            if (at === 0 && !announcesLate) {
              server.announce();
            }
            const stream = client.request(
              { ":method": "POST", ":path": path, ...objectOf(asked) },
              { endStream: true },
            );
            const [streamId, fields] = await once(server, "fields");
            const pseudo = [":method", "POST", ":path", path, ":authority", "localhost:80", ":scheme", "http"];
            expect(fields).to.deep.equal([...pseudo, ...asked]);
            if (at === 0 && announcesLate) {
              server.announce();
            }
            await changeTableSize(client, nextSize);
            const answer = [":status", status, ...answered];
            const responded = once(stream, "response");
            server.sendFields(streamId, answer);
            const [, , raw] = await responded;
            expect(raw).to.deep.equal(answer);
          }
        } finally {
          client.destroy();
          near.destroy();
        }
      }),
      { numRuns: 40 },
    );
  });

  it("has the same names in its static table", async () => {
    const [near, far] = duplexPair();
    const server = http2.createServer();
    const opened = once(server, "session");
    server.emit("connection", far);
    const client = new RawEnd(near, true, { announced: 4_096, own: 0 });
    const [session] = await opened;
    try {
      client.announce();
      // HTTP/2 has no transfer-encoding.
      const names = STATIC_NAMES.filter((each) => /^[a-z]/.test(each) && each !== "transfer-encoding");
      expect(names.length).to.equal(46);
      const ask = [":method", "GET", ":scheme", "http", ":path", "/", ...names.flatMap((each) => [each, "0"])];
      const received = once(server, "stream");
      client.sendFields(1, ask);
      const [, , , raw] = await received;
      expect(raw).to.deep.equal(ask);
    } finally {
      session.destroy();
      near.destroy();
    }
  });

  it("makes requests that a server understands, and understands its answers", async () => {
    await fc.assert(
      fc.asyncProperty(connection, async ({ sizes, exchanges }) => {
        const [near, far] = duplexPair();
        const server = http2.createServer();
        const opened = once(server, "session");
        server.emit("connection", far);
        const client = new RawEnd(near, true, sizes);
        const [session] = await opened;
        client.announce();
        try {
          for (const [at, { path, asked, answered, status, tableSize: nextSize }] of exchanges.entries()) {
            await changeTableSize(session, nextSize);
            const ask = [":method", "POST", ":scheme", "http", ":path", path, ":authority", "localhost", ...asked];
            const received = once(server, "stream");
            client.sendFields(2 * at + 1, ask);
            const [stream, , , raw] = await received;
            expect(raw).to.deep.equal(ask);
            const responded = once(client, "fields");
            stream.respond({ ":status": status, ...objectOf(answered) }, { endStream: true, sendDate: false });
            const [, fields] = await responded;
            expect(fields).to.deep.equal([":status", status, ...answered]);
          }
        } finally {
          session.destroy();
          near.destroy();
        }
      }),
      { numRuns: 40 },
    );
  });
});
