import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import type { Change } from "../../state/index.ts";
import { StoreError } from "../files/index.ts";
import { Rocks } from "../rocks/index.ts";
import { SequenceMarkers } from "./sequence-markers.ts";

const OPTIONS = { createIfMissing: true, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const MIB = 1024 * 1024;

/** A batch of this many bytes, key and value together. */
function batch(bytes: number): readonly Change[] {
  return [{ key: new Uint8Array(4), value: new Uint8Array(bytes - 4) }];
}

/** Each milestone has its batch: most specs need a thousand, and change none. */
const MIB_BATCH = batch(MIB);

/** Number of a milestone's row; null for any other. */
function numberOf({ key }: Change): number | null {
  return key.length === 9 && key[0] === 0x7a ? Number(Buffer.from(key).readBigUInt64BE(1)) : null;
}

function milestonesOf(changes: readonly Change[]): { readonly put: number[]; readonly deleted: number[] } {
  const rows = changes.flatMap((change) => {
    const number = numberOf(change);
    return number === null ? [] : [{ number, isPut: change.value !== null }];
  });
  return {
    put: rows.filter(({ isPut }) => isPut).map(({ number }) => number),
    deleted: rows.filter(({ isPut }) => !isPut).map(({ number }) => number),
  };
}

describe("SequenceMarkers", () => {
  let rocks: Rocks;
  beforeEach(async () => {
    rocks = await Rocks.open(temporaryDirectory(), OPTIONS);
  });
  afterEach(() => rocks.close());

  /** Writes the milestones of so many batches of a MiB, without the batches. */
  function pass(milestones: SequenceMarkers, count: number): void {
    for (let round = 0; round < count; round++) {
      rocks.write(
        milestones.addMarkers(MIB_BATCH).filter((change) => numberOf(change) !== null),
        false,
      );
    }
  }

  function remove(number: number): void {
    const { key } = SequenceMarkers.read(rocks).addMarkers(MIB_BATCH).at(1) as Change;
    const row = Buffer.from(key);
    row.writeBigUInt64BE(BigInt(number), 1);
    expect(rocks.get(row), `milestone ${number} is there`).not.to.equal(undefined);
    rocks.write([{ key: row, value: null }], false);
  }

  it("goes with the first batch, then with one in every MiB", () => {
    const milestones = SequenceMarkers.read(rocks);
    const sizes = [10, 10, MIB - 11, 10, 10, 2 * MIB, 10];
    const marked = sizes.map((size) => milestonesOf(milestones.addMarkers(batch(size))).put);
    expect(marked).to.deep.equal([[1], [], [], [2], [], [3], []]);
  });

  it("adds to the batch and takes nothing from it", () => {
    const changes = batch(10);
    const marked = SequenceMarkers.read(rocks).addMarkers(changes);
    expect(marked.slice(0, 1)).to.deep.equal(changes);
    expect(marked).to.have.length(2);
    expect(changes).to.have.length(1);
  });

  it("goes on where the last opening ended", () => {
    pass(SequenceMarkers.read(rocks), 3);
    expect(milestonesOf(SequenceMarkers.read(rocks).addMarkers(batch(10))).put).to.deep.equal([4]);
  });

  it("keeps the newest 1,024", () => {
    const milestones = SequenceMarkers.read(rocks);
    pass(milestones, 1024);
    expect(milestonesOf(milestones.addMarkers(MIB_BATCH))).to.deep.equal({ put: [1025], deleted: [1] });
    pass(SequenceMarkers.read(rocks), 10);
    expect(() => SequenceMarkers.read(rocks)).not.to.throw();
  });

  it("finds any gap: within, at the start, and when all but the newest are gone", () => {
    pass(SequenceMarkers.read(rocks), 5);
    for (const missing of [[3], [1], [1, 2], [2, 3, 4], [1, 2, 3, 4]]) {
      const rows: Change[] = [];
      for (const number of missing) {
        const key = Buffer.alloc(9);
        key[0] = 0x7a;
        key.writeBigUInt64BE(BigInt(number), 1);
        rows.push({ key, value: null });
      }
      rocks.write(rows, false);
      expect(() => SequenceMarkers.read(rocks), `without ${missing.join()}`)
        .to.throw(StoreError, "lost batches between older and newer ones")
        .with.property("kind", "corruption");
      rocks.write(
        rows.map(({ key }) => ({ key, value: new Uint8Array(0) })),
        false,
      );
    }
  });

  it("finds a gap among those that are kept when older ones are gone already", () => {
    pass(SequenceMarkers.read(rocks), 1030);
    remove(7);
    expect(() => SequenceMarkers.read(rocks)).to.throw(StoreError);
  });

  it("takes a lost end for what it is: an older store", () => {
    pass(SequenceMarkers.read(rocks), 5);
    remove(5);
    expect(milestonesOf(SequenceMarkers.read(rocks).addMarkers(batch(10))).put).to.deep.equal([5]);
  });
});
