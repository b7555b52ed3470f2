import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { AppliedLog } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { PROGRESS_ROW, type Row, readProgress } from "../../state/index.ts";
import { StoreError } from "../files/index.ts";
import { Rocks } from "../rocks/index.ts";
import { IncomingState } from "./incoming-state.ts";
import { LOCAL_ROWS_FROM, SNAPSHOT_ORIGIN_ROW } from "./local-rows.ts";
import { SequenceMarkers } from "./sequence-markers.ts";
import { encodeSnapshotOrigin, readSnapshotOrigin } from "./snapshot-origin.ts";

const OPTIONS = { createIfMissing: true, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const MIB = 1024 * 1024;
/** The progress row: entry 1 of term 1 is applied. */
const PROGRESS: Row = { key: PROGRESS_ROW, value: new AppliedLog().store.get(PROGRESS_ROW) as Uint8Array };
const row = (key: string, bytes = 1): Row => ({ key: Buffer.from(key), value: Buffer.alloc(bytes) });

describe("IncomingState", () => {
  let rocks: Rocks;
  let incoming: IncomingState;
  beforeEach(async () => {
    rocks = await Rocks.open(temporaryDirectory(), OPTIONS);
    incoming = new IncomingState(rocks);
  });
  afterEach(() => rocks.close());

  it("says that nothing was applied until it is finished, whatever was received (P42)", () => {
    incoming.write([PROGRESS, row("d1")]);
    expect(rocks.get(Buffer.from("d1"))).to.have.length(1);
    expect(readProgress(rocks).appliedIndex).to.equal(0);
    expect(readSnapshotOrigin(rocks)).to.equal(null);
    incoming.finish({ index: 1, term: 1 });
    expect(readProgress(rocks).appliedIndex).to.equal(1);
    expect(readSnapshotOrigin(rocks)).to.deep.equal({ index: 1, term: 1 });
  });

  it("keeps its own copy of how far it has come: pieces are reused", () => {
    const piece = { key: PROGRESS_ROW, value: Uint8Array.from(PROGRESS.value) };
    incoming.write([piece]);
    piece.value.fill(0xff);
    incoming.finish({ index: 1, term: 1 });
    expect(rocks.get(PROGRESS_ROW)).to.deep.equal(Buffer.from(PROGRESS.value));
  });

  it("leaves milestones, so that a later start sees when a part of it is missing", () => {
    incoming.write([PROGRESS, row("d1", MIB)]);
    incoming.write([row("d2", MIB)]);
    incoming.write([row("d3", MIB)]);
    incoming.finish({ index: 1, term: 1 });
    let milestones = 0;
    rocks.scan(Uint8Array.of(0x7a), Uint8Array.of(0x7b), () => ++milestones > 0);
    expect(milestones).to.equal(3);
    const second = Buffer.alloc(9);
    second[0] = 0x7a;
    second.writeBigUInt64BE(2n, 1);
    rocks.write([{ key: second, value: null }], false);
    expect(() => SequenceMarkers.read(rocks)).to.throw(StoreError);
  });

  it("refuses what is no row of the replicated state, and what deletes one", () => {
    expect(() => incoming.write([{ key: LOCAL_ROWS_FROM, value: new Uint8Array(1) }])).to.throw(InvariantViolation);
    expect(() => incoming.write([{ key: Buffer.from("d1"), value: null }])).to.throw(InvariantViolation);
  });

  it("is finished only as what it holds", () => {
    expect(() => incoming.finish({ index: 1, term: 1 })).to.throw(InvariantViolation, "says how far it has come");
    for (const other of [
      { index: 2, term: 1 },
      { index: 1, term: 2 },
    ]) {
      incoming.write([PROGRESS]);
      expect(() => incoming.finish(other)).to.throw(InvariantViolation, "has come as far as it was announced");
    }
  });
});

describe("installed", () => {
  it("reads what was written, and nothing where nothing was", () => {
    const installed = { index: Number.MAX_SAFE_INTEGER, term: 2 ** 40 + 3 };
    const value = encodeSnapshotOrigin(installed);
    expect(Buffer.from(value).toString("hex")).to.equal("001fffffffffffff0000010000000003");
    expect(readSnapshotOrigin({ get: (key) => (key === SNAPSHOT_ORIGIN_ROW ? value : undefined) })).to.deep.equal(
      installed,
    );
    expect(readSnapshotOrigin({ get: () => undefined })).to.equal(null);
  });

  it("is damage where it has another length", () => {
    for (const length of [0, 15, 17]) {
      expect(() => readSnapshotOrigin({ get: () => new Uint8Array(length) }))
        .to.throw(StoreError)
        .with.property("kind", "corruption");
    }
  });
});
