import { expect } from "chai";
import { FakeTime, MemoryDriverState } from "../../../test/harness/index.ts";
import { FoundedCluster, secrets } from "../../../test/index.ts";
import { type Progress, type Row, readProgress } from "../../state/index.ts";
import { ReadAllowance, type SnapshotLimits } from "../context/index.ts";
import { type StateExport, StateExportEnded, StateExports } from "./state-exports.ts";

const LIMITS: SnapshotLimits = { chunkBytes: 1_000, streamsMax: 2, bytesPerSecond: 1e9, streamMs: 60_000 };
const TICK_MS = 50;
const EXTRA_ROWS = 100;
const VALUE_BYTES = 200;

/** Lets promises continue that wait for nothing. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("StateExports", () => {
  let time: FakeTime;
  let state: MemoryDriverState;
  let progress: Progress;
  let allowance: ReadAllowance;

  beforeEach(() => {
    time = new FakeTime();
    state = new MemoryDriverState(time);
    const founded = new FoundedCluster();
    founded.state.scan(new Uint8Array(0), Uint8Array.of(0xff), (row) => {
      state.write([{ key: row.key, value: row.value }]);
      return true;
    });
    state.write(
      Array.from({ length: EXTRA_ROWS }, (_, at) => ({
        key: Buffer.from(`d${String(at).padStart(3, "0")}`),
        value: new Uint8Array(VALUE_BYTES),
      })),
    );
    progress = readProgress(state);
  });

  function newExports(limits: Partial<SnapshotLimits> = {}): StateExports {
    const all = { ...LIMITS, ...limits };
    allowance = new ReadAllowance(all.bytesPerSecond, time.monotonicMs());
    return new StateExports({ state, clock: time, scheduler: time, limits: { snapshots: all } }, allowance);
  }

  function opened(exports: StateExports): StateExport {
    return exports.open(progress) ?? expect.fail("there is no export");
  }

  /** Reads to the end, and fills in what it has read so far. */
  function reading(one: StateExport): { readonly rows: Row[]; end: Error | "whole" | null } {
    const result = { rows: [] as Row[], end: null as Error | "whole" | null };
    const read = async (): Promise<void> => {
      for await (const rows of one.rows()) {
        result.rows.push(...rows);
      }
    };
    read().then(
      () => {
        result.end = "whole";
      },
      (error: Error) => {
        result.end = error;
      },
    );
    return result;
  }

  /** Runs turns until nothing happens without the clock. */
  async function turns(): Promise<void> {
    do {
      time.drain();
      await settled();
    } while (time.isArmed);
  }

  const bytesOf = (rows: readonly Row[]): number => {
    return rows.reduce((bytes, { key, value }) => bytes + key.length + value.length, 0);
  };

  it("read all rows once, in the order of their keys, of one moment", async () => {
    const one = opened(newExports());
    const read = reading(one);
    time.turn();
    state.write([{ key: Buffer.from("d050"), value: Uint8Array.of(1) }]);
    state.write([{ key: Buffer.from("d999"), value: Uint8Array.of(1) }]);
    await turns();
    expect(read.end).to.equal("whole");
    const keys = read.rows.map(({ key }) => Buffer.from(key).toString("latin1"));
    expect(keys).to.deep.equal([...new Set(keys)].sort());
    expect(read.rows.filter(({ key }) => key[0] === "d".charCodeAt(0)).map(({ value }) => value.length)).to.deep.equal(
      Array(EXTRA_ROWS).fill(VALUE_BYTES),
    );
    expect([one.progress, one.cluster.clusterId]).to.deep.equal([progress, secrets.founding.clusterId]);
    expect(state.openViews).to.equal(0);
  });

  it("S44: take a turn for each chunk, and read nothing that no reader has asked for", async () => {
    const one = opened(newExports());
    await turns();
    const rows = one.rows();
    const first = rows.next();
    await turns();
    const { value } = await first;
    expect(bytesOf(value ?? [])).to.be.within(1, LIMITS.chunkBytes + VALUE_BYTES + 10);
    expect(time.isArmed).to.equal(false);
    await rows.return();
    expect(state.openViews).to.equal(0);
  });

  it("give way when there is much else to do, and go on with the next tick", async () => {
    const exports = newExports();
    const read = reading(opened(exports));
    await settled();
    // The turn comes late.
    time.stall(10);
    time.turn();
    await settled();
    expect(read.rows.length).to.equal(0);
    exports.onTick(time.monotonicMs());
    await settled();
    expect(read.rows.length).to.be.greaterThan(0);
  });

  it("read no faster than all of them may together, and than snapshots for members leave", async () => {
    const bytesPerSecond = 4_000;
    const exports = newExports({ bytesPerSecond, chunkBytes: 300 });
    const both = [reading(opened(exports)), reading(opened(exports))];
    const startMs = time.monotonicMs();
    // As a snapshot for another member would.
    let taken = 0;
    while (both.some(({ end }) => end === null)) {
      await turns();
      const passedMs = time.monotonicMs() - startMs;
      const bytes = both.reduce((sum, { rows }) => sum + bytesOf(rows), taken);
      expect(bytes).to.be.at.most(bytesPerSecond * (1 + passedMs / 1_000) + 2 * 600);
      time.stall(TICK_MS);
      if (passedMs < 2_000) {
        allowance.take(100);
        taken += 100;
      }
      exports.onTick(time.monotonicMs());
      expect(passedMs).to.be.lessThan(60_000);
    }
    expect(both.map(({ end }) => end)).to.deep.equal(["whole", "whole"]);
    expect(taken).to.equal(4_000);
  });

  it("are no more than so many, and none where the state cannot be read", () => {
    const exports = newExports();
    const first = opened(exports);
    opened(exports);
    expect([exports.isFull, exports.open(progress)]).to.deep.equal([true, null]);
    first.close();
    first.close();
    state.isStalled = true;
    expect([exports.isFull, exports.open(progress)]).to.deep.equal([false, null]);
    state.isStalled = false;
    opened(exports);
    expect(state.openViews).to.equal(2);
    const empty = new MemoryDriverState(time);
    const none = new StateExports(
      { state: empty, clock: time, scheduler: time, limits: { snapshots: LIMITS } },
      allowance,
    );
    expect([none.open(progress), empty.openViews]).to.deep.equal([null, 0]);
  });

  const ends: readonly (readonly [string, RegExp, (exports: StateExports) => void])[] = [
    ["takes too long", /took too long/, () => time.stall(LIMITS.streamMs + 1)],
    ["reads a state that is no more", /was replaced/, (exports) => exports.abort("the state was replaced")],
  ];
  for (const [name, reason, happens] of ends) {
    it(`one that ${name} ends, also while a reader waits, and lets go of its view`, async () => {
      const exports = newExports({ bytesPerSecond: 1_000, chunkBytes: 300 });
      const waiting = reading(opened(exports));
      const unread = opened(exports);
      await turns();
      expect(waiting.end).to.equal(null);
      happens(exports);
      exports.onTick(time.monotonicMs());
      await settled();
      expect(waiting.end).to.be.instanceOf(StateExportEnded);
      expect(String(waiting.end)).to.match(reason);
      const late = reading(unread);
      await settled();
      expect(String(late.end)).to.match(reason);
      expect([state.openViews, exports.isFull]).to.deep.equal([0, false]);
    });
  }
});
