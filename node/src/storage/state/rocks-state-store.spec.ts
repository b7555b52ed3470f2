import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  damageTable,
  itIsAMemberStateStore,
  temporaryDirectory,
  until,
  untilDamageIsFound,
} from "../../../test/harness/index.ts";
import { AppliedLog, applyRows, expectExactReplays, putOf, requestOf, soleVoter } from "../../../test/index.ts";
import { InvariantViolation, listenToMarks } from "../../primitives/index.ts";
import { answerRange, DEFAULT_STATE_LIMITS, generationMs, StateMachine } from "../../state/index.ts";
import { DROP_CRASH_POINTS, StoreError } from "../files/index.ts";
import { Rocks } from "../rocks/index.ts";
import { RocksStateStore } from "./rocks-state-store.ts";

/** Every scan remembers the gaps between the rows that it reads, as otherwise only slow ones do. */
const OPTIONS = {
  createIfMissing: true,
  memtableBytes: 4 * 1024 * 1024,
  cacheBytes: 1024 * 1024,
  slowMs: -1,
};
const bytes = (text: string): Uint8Array => Buffer.from(text);
const PUT = putOf("key", "value");

describe("RocksStateStore", () => {
  let rocks: Rocks;
  let store: RocksStateStore;
  let fatal: StoreError[];

  beforeEach(async () => {
    fatal = [];
    rocks = await Rocks.open(join(temporaryDirectory(), "state-1"), OPTIONS);
    store = new RocksStateStore(rocks, (error) => fatal.push(error));
  });
  afterEach(async () => {
    listenToMarks(null);
    await store.close();
    await rocks.close();
  });

  describe("as any state store of a member", () => {
    itIsAMemberStateStore(async () => ({ store, drain: () => undefined }));
    afterEach(() => expect(fatal).to.deep.equal([]));
  });

  const sync = (): Promise<void> => new Promise((resolve) => store.sync(resolve));

  it("reads what was written, at once", () => {
    store.write([{ key: bytes("k1"), value: bytes("v") }]);
    expect(store.get(bytes("k1"))).to.deep.equal(bytes("v"));
    store.write([
      { key: bytes("k1"), value: null },
      { key: bytes("k2"), value: bytes("") },
    ]);
    expect(store.get(bytes("k1"))).to.equal(undefined);
    const keys: string[] = [];
    store.scan(bytes("k"), bytes("l"), ({ key }) => keys.push(Buffer.from(key).toString()) > 0);
    expect(keys).to.deep.equal(["k2"]);
    expect(store.isStalled).to.equal(false);
  });

  it("shows users, API keys and namespaces as they were last written, never as they were last read", () => {
    for (const table of ["u", "k", "n"]) {
      const row = bytes(`${table}1`);
      expect(store.get(row)).to.equal(undefined);
      store.write([{ key: row, value: bytes("old") }]);
      expect(store.get(row)).to.deep.equal(bytes("old"));
      store.write([{ key: row, value: bytes("new") }]);
      expect(store.get(row), table).to.deep.equal(bytes("new"));
      store.write([{ key: row, value: null }]);
      expect(store.get(row), table).to.equal(undefined);
    }
  });

  it("shows rows that are written where a scan has found none", () => {
    const scan = (): string[] => {
      const keys: string[] = [];
      store.scan(bytes("k"), bytes("l"), ({ key }) => keys.push(Buffer.from(key).toString()) > 0);
      return keys;
    };
    const put = (key: string) => ({ key: bytes(key), value: bytes("v") });
    expect(scan()).to.deep.equal([]);
    store.write([put("k5"), put("k9")]);
    expect(scan()).to.deep.equal(["k5", "k9"]);
    store.write([put("k1"), { key: bytes("k5"), value: null }, put("k7")]);
    expect(scan()).to.deep.equal(["k1", "k7", "k9"]);
    store.write([put("k5")]);
    expect(scan()).to.deep.equal(["k1", "k5", "k7", "k9"]);
  });

  it("passes a crash point before and after each batch", () => {
    const passed: string[] = [];
    listenToMarks((name) => passed.push(name));
    store.write([{ key: bytes("k"), value: bytes("v") }]);
    expect(passed).to.deep.equal(["state.batch.before", "state.batch.after"]);
  });

  describe("that drops ranges of rows", () => {
    const RANGE = answerRange(1, 2);
    const answers = (): number => {
      let count = 0;
      store.scan(bytes("r"), bytes("s"), () => ++count > 0);
      return count;
    };

    it("passes crash points behind those of the batch", () => {
      const passed: string[] = [];
      listenToMarks((name) => passed.push(name));
      store.write([{ key: bytes("k"), value: bytes("v") }], [RANGE, answerRange(4, 4)]);
      const drop = DROP_CRASH_POINTS;
      expect(passed).to.deep.equal(["state.batch.before", "state.batch.after", ...drop, ...drop]);
    });

    it("reports a range that cannot be deleted: the member must end", async () => {
      Object.defineProperty(rocks, "clear", {
        value: (_from: unknown, _to: unknown, done: (error: StoreError) => void) => {
          process.nextTick(done, new StoreError("io", "no room"));
        },
      });
      store.write([], [RANGE]);
      await until("the failure", () => fatal.length > 0);
      expect(fatal.map(({ message }) => message)).to.deep.equal(["no room"]);
    });

    for (const dyingAt of DROP_CRASH_POINTS) {
      it(`of a state machine that dies at ${dyingAt} begins again without them`, async () => {
        const log = new AppliedLog();
        const { replayWindowMs } = DEFAULT_STATE_LIMITS;
        for (let id = 0; id < 20; id++) {
          log.result({ ...PUT, value: Uint8Array.of(id) }, { request: requestOf(id) });
          log.tickMs += generationMs(replayWindowMs) / 5;
        }
        log.tickMs = generationMs(replayWindowMs) * 2 + replayWindowMs;
        log.lead({ kind: "drop-replays" });
        const again = log.execute({ ...PUT, value: Uint8Array.of(19) }, { request: requestOf(19) });
        const machine = new StateMachine(store, (previous, data) => crc32(data, previous), DEFAULT_STATE_LIMITS);
        const sliceEnds = new Set(log.rows.map((_, at) => at + 1));
        applyRows(machine, log.rows.slice(0, -2), sliceEnds);
        expect(answers()).to.equal(20);
        machine.apply(log.rows.at(-2) as Uint8Array, soleVoter);
        listenToMarks((name) => {
          if (name === dyingAt) {
            throw new Error("the process dies");
          }
        });
        expect(() => machine.commit()).to.throw("the process dies");
        listenToMarks(null);
        const { directory } = rocks;
        const left = answers();
        await store.close();
        rocks = await Rocks.open(directory, OPTIONS);
        store = new RocksStateStore(rocks, (error) => fatal.push(error));
        const kept = log.progress.storedAnswers;
        expect([left, answers(), kept]).to.deep.equal([dyingAt === "state.drop.before" ? 20 : kept, kept, kept]);
        const restarted = new StateMachine(store, (previous, data) => crc32(data, previous), DEFAULT_STATE_LIMITS);
        const [outcome] = applyRows(restarted, log.rows.slice(-1));
        expect([again.replayed, outcome?.replayed]).to.deep.equal(["yes", "yes"]);
        expect(restarted.progress).to.deep.equal(log.progress);
        expectExactReplays(store);
        expect(fatal).to.deep.equal([]);
      });
    }

    it("drops nothing when it opens a state whose generations are all there", async () => {
      const log = new AppliedLog();
      log.result(PUT);
      const machine = new StateMachine(store, (previous, data) => crc32(data, previous), DEFAULT_STATE_LIMITS);
      applyRows(machine, log.rows);
      const { directory } = rocks;
      await store.close();
      rocks = await Rocks.open(directory, OPTIONS);
      store = new RocksStateStore(rocks, (error) => fatal.push(error));
      expect(answers()).to.equal(1);
      expectExactReplays(store);
    });
  });

  it("reports the end of a sync in a turn of its own, and can be synced again", async () => {
    store.write([{ key: bytes("k"), value: bytes("v") }]);
    let done = false;
    const synced = new Promise<void>((resolve) => {
      store.sync(() => {
        done = true;
        resolve();
      });
    });
    expect(done).to.equal(false);
    await synced;
    await sync();
    store.write([{ key: bytes("k"), value: null }]);
    expect(fatal).to.deep.equal([]);
  });

  it("is a violation to write or to sync while a sync is in flight: it would wait for the disk (P59)", async () => {
    const synced = sync();
    expect(() => store.write([{ key: bytes("k"), value: null }])).to.throw(InvariantViolation, "no batch is written");
    expect(() => store.sync(() => undefined)).to.throw(InvariantViolation, "one state sync");
    await synced;
  });

  it("finishes a sync in flight when it is closed", async () => {
    let done = false;
    store.sync(() => {
      done = true;
    });
    await store.close();
    expect(done).to.equal(true);
    expect(fatal).to.deep.equal([]);
  });

  it("keeps its own rows out of the way of the state's", async () => {
    store.write([{ key: bytes("a"), value: bytes("v") }]);
    await sync();
    const keys: number[] = [];
    store.scan(Uint8Array.of(0), Uint8Array.of(0x79), ({ key }) => keys.push(key[0] as number) > 0);
    expect(keys).to.deep.equal([0x61]);
  });

  it("reports a store that cannot be read or written, once for each who asked, and raises it", async () => {
    await rocks.close();
    for (const action of [
      () => store.get(bytes("k")),
      () => store.scan(bytes("a"), bytes("b"), () => true),
      () => store.write([{ key: bytes("k"), value: null }]),
    ]) {
      expect(action).to.throw(StoreError);
    }
    expect(fatal).to.have.length(3);
  });

  describe("whose table RocksDB has found damaged in the background", () => {
    beforeEach(async () => {
      const { directory } = rocks;
      await store.close();
      await damageTable(directory, bytes("k"), () => Rocks.open(directory, OPTIONS));
      rocks = await Rocks.open(directory, OPTIONS);
      store = new RocksStateStore(rocks, (error) => fatal.push(error));
      await untilDamageIsFound((name) => rocks.property(name));
    });

    it("reports a sync as corruption, although another thread made it", async () => {
      store.sync(() => expect.fail("nothing was synced"));
      const [error] = await until("the failure", () => fatal.length > 0 && fatal);
      expect([error?.kind, error?.message]).to.deep.equal(["corruption", error?.message]);
      expect(error?.message).to.match(/^the state thread failed: .*Corruption: .*\.sst/);
    });

    it("reports it also while writes are held back: that would not end by itself", async () => {
      Object.defineProperty(rocks, "isStalled", { get: () => true });
      expect([store.isStalled, store.isStalled]).to.deep.equal([true, true]);
      const [error] = await until("the failure", () => fatal.length > 0 && fatal);
      expect(error?.kind).to.equal("corruption");
    });

    it("reports a batch as corruption", () => {
      expect(() => store.write([{ key: bytes("k"), value: null }])).to.throw(StoreError);
      expect(fatal.map(({ kind }) => kind)).to.deep.equal(["corruption"]);
    });
  });
});
