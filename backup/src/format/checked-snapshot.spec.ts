import { expect } from "chai";
import { chunked, codeOf, collect, flipped, rowsOf, snapshotBytes, snapshotHeader } from "../../test/index.ts";
import { checkSnapshot } from "./checked-snapshot.ts";

/** Several frames. */
const ROWS = rowsOf(40_000);

describe("a snapshot that is checked while it is copied", () => {
  const header = snapshotHeader(40);
  let bytes: Buffer;

  before(async () => {
    bytes = await snapshotBytes(header, ROWS);
  });

  /** The bytes that were passed on, and the error that ended them. */
  async function passed(source: AsyncIterable<Uint8Array>): Promise<{ bytes: Buffer; error: unknown }> {
    const parts: Uint8Array[] = [];
    try {
      for await (const part of (await checkSnapshot(source)).stream) {
        parts.push(part);
      }
      return { bytes: Buffer.concat(parts), error: undefined };
    } catch (error) {
      return { bytes: Buffer.concat(parts), error };
    }
  }

  it("arrives byte by byte, in chunks of any size, with its header, rows and summary", async () => {
    for (const size of [1_000, 65_536, bytes.length]) {
      const checked = await checkSnapshot(chunked(bytes, size));
      expect(checked.header).to.deep.equal(header);
      expect(() => checked.summary()).to.throw("not read to its end");
      expect((await collect(checked.stream)).equals(bytes)).to.equal(true);
      expect([checked.rows, checked.summary().records, checked.summary().bytes]).to.deep.equal([
        ...[ROWS.length, ROWS.length, bytes.length],
      ]);
    }
  });

  it("never arrives with its end if a byte is changed, the end is missing, or bytes follow it", async () => {
    const spoiled = [
      flipped(bytes, bytes.length - 10),
      flipped(bytes, Math.floor(bytes.length / 2)),
      bytes.subarray(0, -1),
      Buffer.concat([bytes, Buffer.from("x")]),
    ];
    for (const [at, wrong] of spoiled.entries()) {
      for (const size of [777, 65_536, wrong.length]) {
        const { bytes: arrived, error } = await passed(chunked(wrong, size));
        expect(error, `${at}, ${size}`).to.have.property("name", "BackupError");
        expect(arrived.length, `${at}, ${size}`).to.be.lessThan(bytes.length);
      }
    }
  });

  it("ends with the error of its source, and is not a snapshot if its first bytes differ", async () => {
    const broken = async function* () {
      yield* chunked(bytes.subarray(0, 200_000), 50_000);
      throw new Error("the connection is gone");
    };
    const { bytes: arrived, error } = await passed(broken());
    expect(String(error)).to.include("the connection is gone");
    expect(arrived.length).to.be.within(1, 200_000);
    expect(await codeOf(checkSnapshot(chunked(Buffer.from("something else"))))).to.equal("not-a-backup");
  });

  it("ends its source when it is closed", async () => {
    let isEnded = false;
    const source = async function* () {
      try {
        yield* chunked(bytes, 1_000);
      } finally {
        isEnded = true;
      }
    };
    const checked = await checkSnapshot(source());
    await checked.close();
    expect(isEnded).to.equal(true);
  });
});
