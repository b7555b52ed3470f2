import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import {
  backupErrorOf,
  chunked,
  codeOf,
  collect,
  flatten,
  flipped,
  rowsOf,
  snapshotBytes,
  snapshotHeader,
} from "../../test/index.ts";
import { FieldWriter } from "./fields.ts";
import { FRAME_BYTES_TARGET } from "./layout.ts";
import { writeObject } from "./object-writer.ts";
import { type Row, readSnapshot, type SnapshotHeader, writeSnapshot } from "./snapshot.ts";

const HEADER = snapshotHeader(42);

async function readAll(bytes: Uint8Array, chunk?: number): Promise<{ header: SnapshotHeader; rows: Row[] }> {
  const reading = await readSnapshot(chunked(bytes, chunk));
  const rows = await flatten(reading.batches);
  expect(reading.summary().records).to.equal(rows.length);
  return { header: reading.header, rows };
}

function texts(rows: readonly Row[]): string[] {
  return rows.map(({ key, value }) => `${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`);
}

/** An object of this header, with rows that no writer would allow. */
function forged(header: Uint8Array, encode: Parameters<typeof writeObject<number>>[0]["encode"]): Promise<Buffer> {
  return collect(writeObject({ kind: "snapshot", header, batches: [[0, 1]], encode }).stream);
}

function headerBytes(bytes: Buffer): Buffer {
  return bytes.subarray(16, 16 + bytes.readUInt32BE(12));
}

/** The object with another beginning, whose checksum is right. */
function withPrelude(bytes: Buffer, change: (prelude: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  const end = 16 + headerBytes(bytes).length;
  copy.writeUInt32BE(crc32(copy.subarray(0, end)), end);
  return copy;
}

describe("snapshot", () => {
  it("comes back as it was written, in chunks of any size", async () => {
    const row = fc.record({ key: fc.uint8Array({ maxLength: 20 }), value: fc.uint8Array({ maxLength: 200 }) });
    const rows = fc.uniqueArray(row, { selector: ({ key }) => Buffer.from(key).toString("hex"), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 300 }), async (unordered, chunk) => {
        const ordered = unordered.toSorted((a, b) => Buffer.compare(a.key, b.key));
        const read = await readAll(await snapshotBytes(HEADER, ordered), chunk);
        expect(read.header).to.deep.equal(HEADER);
        expect(texts(read.rows)).to.deep.equal(texts(ordered));
      }),
      { numRuns: 100 },
    );
  });

  it("of many frames comes back, with rows larger than a frame, and reports its content", async () => {
    const rows = rowsOf(30_000);
    rows.push({ key: Buffer.from("zz"), value: Buffer.alloc(3 * FRAME_BYTES_TARGET, 7) });
    rows.push({ key: Buffer.from("zzz"), value: new Uint8Array(0) });
    const writing = writeSnapshot(HEADER, [rows.slice(0, 100), [], rows.slice(100)]);
    expect(() => writing.summary()).to.throw("not complete");
    const bytes = await collect(writing.stream);
    const reading = await readSnapshot(chunked(bytes, 10_000));
    let frames = 0;
    for await (const _ of reading.batches) {
      frames += 1;
    }
    expect(frames).to.be.greaterThan(3);
    expect(reading.summary()).to.deep.equal(writing.summary());
    expect(reading.summary().bytes).to.equal(bytes.length);
    const hash = createHash("sha256").update(bytes.subarray(0, -36)).digest();
    expect(Buffer.from(reading.summary().hash).equals(hash)).to.equal(true);
  });

  it("lets a writer reuse the memory of its rows", async () => {
    const memory = Buffer.alloc(8);
    function* rows(): Generator<Row> {
      for (let number = 0; number < 10; number++) {
        memory.writeUInt32BE(number, 0);
        yield { key: memory.subarray(0, 4), value: memory.subarray(0, 4) };
      }
    }
    const { rows: read } = await readAll(await collect(writeSnapshot(HEADER, [rows()]).stream));
    expect(read.map(({ key }) => Buffer.from(key).readUInt32BE(0))).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("is refused when any one bit of it is flipped", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    const codes = new Map<string, number>();
    for (let position = 0; position < bytes.length; position++) {
      const code = await codeOf(readAll(flipped(bytes, position, position % 8)));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect([...codes.keys()].sort()).to.deep.equal(["cut-off", "damaged", "not-a-backup"]);
    expect(codes.get("not-a-backup")).to.equal(8); // The magic.
    expect(codes.get("cut-off")).to.be.lessThan(5); // The length of the header.
  });

  it("is refused when it is cut at any length, with the error that the end is missing", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    expect(await codeOf(readAll(bytes.subarray(0, 0)))).to.equal("not-a-backup");
    for (let length = 1; length < bytes.length; length++) {
      expect(await codeOf(readAll(bytes.subarray(0, length))), String(length)).to.equal("cut-off");
    }
  });

  it("is refused with bytes after its end", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    expect(await codeOf(readAll(Buffer.concat([bytes, Buffer.alloc(1)])))).to.equal("trailing-bytes");
    expect(await codeOf(readAll(Buffer.concat([bytes, bytes])))).to.equal("trailing-bytes");
  });

  it("is refused if it is not a snapshot", async () => {
    const error = await backupErrorOf(readAll(Buffer.from("PK\u0003\u0004 is another format of files")));
    expect([error.code, error.message]).to.deep.equal([
      "not-a-backup",
      "it is not a snapshot of Quoin: its first bytes differ. Check the name",
    ]);
  });

  it("of a newer format is refused by its version, or by an unknown required field", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    const newer = await backupErrorOf(readAll(withPrelude(bytes, (prelude) => prelude.writeUInt16BE(2, 8))));
    expect([newer.code, newer.message]).to.deep.equal([
      "newer-format",
      "it has format 2, and this release reads formats up to 1. Use the release that wrote it, or a newer one",
    ]);
    expect(await codeOf(readAll(withPrelude(bytes, (prelude) => prelude.writeUInt16BE(0, 8))))).to.equal("damaged");
    expect(await codeOf(readAll(withPrelude(bytes, (prelude) => prelude.writeUInt16BE(1, 10))))).to.equal("damaged");
    const added = new FieldWriter();
    added.number(0x7fff, 1);
    const withField = await forged(Buffer.concat([headerBytes(bytes), added.written]), (_, buffer) => buffer.u32(0));
    expect(await codeOf(readAll(withField))).to.equal("newer-format");
  });

  it("may have optional fields that a reader does not know", async () => {
    const bytes = await snapshotBytes(HEADER, []);
    const added = new FieldWriter();
    added.text(0x8000, "later");
    const header = Buffer.concat([headerBytes(bytes), added.written]);
    const later = await collect(
      writeObject({ kind: "snapshot", header, batches: [[]], encode: () => undefined }).stream,
    );
    expect((await readAll(later)).header).to.deep.equal(HEADER);
  });

  it("with rows out of order, or twice, is neither written nor read", async () => {
    const [first, second] = rowsOf(2) as [Row, Row];
    for (const rows of [
      [second, first],
      [first, first],
    ]) {
      expect(await codeOf(snapshotBytes(HEADER, rows))).to.equal("out-of-order");
      const header = headerBytes(await snapshotBytes(HEADER, []));
      const bytes = await forged(header, (number, buffer) => {
        const { key, value } = rows[number] as Row;
        buffer.u32(key.length);
        buffer.u32(value.length);
        buffer.bytes(key);
        buffer.bytes(value);
      });
      expect(await codeOf(readAll(bytes))).to.equal("out-of-order");
    }
  });

  it("whose frames have another number of rows than they count is refused", async () => {
    const header = headerBytes(await snapshotBytes(HEADER, []));
    expect(await codeOf(readAll(await forged(header, (_, buffer) => buffer.u32(7))))).to.equal("damaged");
    const huge = await forged(header, (_, buffer) => {
      buffer.u32(0xffff_ffff);
      buffer.u32(0xffff_ffff);
    });
    expect(await codeOf(readAll(huge))).to.equal("damaged");
  });

  it("whose trailer counts other rows is refused", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    const trailer = bytes.length - 60;
    bytes.writeUInt32BE(2, trailer + 4);
    const hash = createHash("sha256").update(bytes.subarray(0, -36)).digest();
    hash.copy(bytes, bytes.length - 36);
    bytes.writeUInt32BE(crc32(bytes.subarray(trailer, -4)), bytes.length - 4);
    expect(await codeOf(readAll(bytes))).to.equal("wrong-counts");
  });

  it("with a changed row is refused by its SHA-256, although every checksum was adjusted", async () => {
    const bytes = await snapshotBytes(HEADER, [{ key: Buffer.from("key"), value: Buffer.from("value") }]);
    const start = 16 + headerBytes(bytes).length + 4;
    const body = bytes.subarray(start + 20, start + 20 + bytes.readUInt32BE(start + 4));
    body.set(Buffer.from("VALUE"), body.indexOf("value"));
    bytes.writeUInt32BE(crc32(body), start + 20 + body.length);
    const refused = await backupErrorOf(readAll(bytes));
    expect(refused.code).to.equal("damaged");
    expect(refused.message).to.include("SHA-256");
  });

  it("without one of its frames, cut out cleanly, is refused", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    const start = 16 + headerBytes(bytes).length + 4;
    const length = 20 + bytes.readUInt32BE(start + 4) + 4;
    const without = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + length)]);
    expect(await codeOf(readAll(without))).to.equal("wrong-counts");
    const doubled = Buffer.concat([bytes.subarray(0, start + length), bytes.subarray(start)]);
    expect(await codeOf(readAll(doubled))).to.equal("out-of-order");
  });

  it("is refused before memory is allocated for a false length", async () => {
    const bytes = await snapshotBytes(HEADER, rowsOf(3));
    const start = 16 + headerBytes(bytes).length + 4;
    for (const [stored, raw] of [
      [0xffff_ffff, 0xffff_ffff],
      [10, 0xffff_ffff],
      [20, 10],
    ] as const) {
      const copy = Buffer.from(bytes);
      copy.writeUInt32BE(stored, start + 4);
      copy.writeUInt32BE(raw, start + 8);
      copy.writeUInt32BE(crc32(copy.subarray(start, start + 16)), start + 16);
      expect(await codeOf(readAll(copy))).to.equal("damaged");
    }
    const headerLength = withPrelude(bytes, () => undefined);
    headerLength.writeUInt32BE(0xffff_fff0, 12);
    expect(await codeOf(readAll(headerLength))).to.equal("damaged");
  });

  it("is not written with a header that breaks a rule, which the error names", () => {
    const wrong: [Partial<SnapshotHeader>, string][] = [
      [{ clusterId: "x" }, "clusterId"],
      [{ id: "ab" }, "id must"],
      [{ clusterName: "x".repeat(257) }, "clusterName"],
      [{ index: -1 }, "index"],
      [{ revision: 2 ** 53 }, "revision"],
      [{ stateDigest: Number.NaN }, "stateDigest"],
    ];
    for (const [change, name] of wrong) {
      expect(() => writeSnapshot({ ...HEADER, ...change }, [])).to.throw(name);
    }
  });

  it("ends without a trailer when its source fails, and its reader closes the abandoned stream", async () => {
    async function* failing(): AsyncGenerator<Row[]> {
      yield rowsOf(3);
      throw new Error("the iterator was closed");
    }
    const writing = writeSnapshot(HEADER, failing());
    const error = await collect(writing.stream).catch((reason: unknown) => reason);
    expect(String(error)).to.contain("the iterator was closed");
    expect(() => writing.summary()).to.throw("not complete");

    let closed = 0;
    async function* source(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      try {
        yield* chunked(bytes, 50);
      } finally {
        closed += 1;
      }
    }
    const bytes = await snapshotBytes(HEADER, rowsOf(100));
    await backupErrorOf(readSnapshot(source(flipped(bytes, 20))));
    await (await readSnapshot(source(bytes))).close();
    for await (const _ of (await readSnapshot(source(bytes))).batches) {
      break;
    }
    expect(closed).to.equal(3);
  });
});
