import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { FakeTime, itIsAMemberStateStore, MemoryDriverState, temporaryDirectory } from "../../../test/harness/index.ts";
import { MemoryStateStore } from "../../../test/index.ts";
import { hashOf } from "../../bytes/index.ts";
import type { Change, KeyRange, Row, StateReader } from "../../state/index.ts";
import { Rocks } from "../rocks/index.ts";
import { RocksStateStore } from "./rocks-state-store.ts";
import { StateWriteBuffer, type WriteBufferLimits } from "./write-buffer.ts";

const OPTIONS = { createIfMissing: true, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const ROOMY: WriteBufferLimits = { rowsMax: 1_000, bytesMax: 1024 * 1024 };
const [FIRST, END] = [new Uint8Array(0), Uint8Array.of(0xff)];

const bytes = (text: string): Uint8Array => Buffer.from(text);
const put = (key: string, value: string): Change => ({ key: bytes(key), value: bytes(value) });
const removal = (key: string): Change => ({ key: bytes(key), value: null });
const range = (from: string, to: string): KeyRange => ({ from: bytes(from), to: bytes(to) });
const text = ({ key, value }: Row): string =>
  `${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`;
const withHash = (change: Change): Change => ({ ...change, hash: hashOf(change.key) });
const nothing = (): void => undefined;

function rowsOf(reader: StateReader, from = FIRST, to = END): string[] {
  const rows: string[] = [];
  reader.scan(from, to, (row) => rows.push(text(row)) > 0);
  return rows;
}

const textOf = (...changes: Change[]): string[] => changes.map((change) => text(change as Row));

describe("the newest changes of the state, in memory", () => {
  const closing: (() => Promise<void>)[] = [];
  let inner: MemoryDriverState;
  let overlay: StateWriteBuffer;

  beforeEach(() => {
    inner = new MemoryDriverState(new FakeTime());
    overlay = new StateWriteBuffer(inner, ROOMY);
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) {
      await close();
    }
  });

  for (const limits of [ROOMY, { rowsMax: 2, bytesMax: 1024 }]) {
    describe(`as any state store of a member, over a disk, with room for ${limits.rowsMax} rows`, () => {
      itIsAMemberStateStore(async () => {
        const rocks = await Rocks.open(join(temporaryDirectory(), "state-1"), OPTIONS);
        const store = new RocksStateStore(rocks, (error) => expect.fail(error.message));
        closing.push(() => store.close());
        return { store: new StateWriteBuffer(store, limits), drain: nothing };
      });
    });
  }

  it("hides what the store has of a row that was changed or deleted in memory", () => {
    inner.write([put("k1", "old"), put("k2", "old"), put("k3", "old")]);
    overlay.write([removal("k1"), put("k2", "new")]);
    expect(["k1", "k2", "k3"].map((key) => overlay.get(bytes(key)))).to.deep.equal([
      undefined,
      bytes("new"),
      bytes("old"),
    ]);
    expect(rowsOf(overlay)).to.deep.equal(textOf(put("k2", "new"), put("k3", "old")));
  });

  it("shows what a store shows that is written at once, whatever is handed over when", () => {
    const key = fc.uint8Array({ minLength: 1, maxLength: 2, max: 3 });
    const batch = fc.record({
      changes: fc.array(fc.record({ key, value: fc.option(fc.uint8Array({ maxLength: 2 }), { nil: null }) }), {
        maxLength: 6,
      }),
      dropped: fc.array(fc.record({ from: key, to: key }), { maxLength: 1 }),
      next: fc.constantFrom("nothing", "flush", "sync", "view", "stall", "go on"),
    });
    fc.assert(
      fc.property(
        fc.array(batch, { maxLength: 12 }),
        fc.integer({ min: 1, max: 8 }),
        key,
        key,
        fc.boolean(),
        (batches, rowsMax, from, to, isNamed) => {
          const time = new FakeTime();
          const store = new MemoryDriverState(time);
          const tried = new StateWriteBuffer(store, { ...ROOMY, rowsMax });
          const model = new MemoryStateStore();
          for (const { changes, dropped, next } of batches) {
            if (!tried.isStalled) {
              tried.write(isNamed ? changes.map(withHash) : changes, store.isStalled ? [] : dropped);
              model.write(changes, store.isStalled ? [] : dropped);
            }
            if (next === "stall" && !store.isStalled) {
              // A write to a range that is still to be dropped could not wait.
              tried.flush();
            }
            store.isStalled = next === "stall" || (store.isStalled && next !== "go on");
            if (next === "flush" && tried.flush()) {
              expect(rowsOf(store), "what is handed over").to.deep.equal(rowsOf(model));
            } else if (next === "sync" && !store.isStalled) {
              tried.sync(nothing);
              time.drain();
              expect(rowsOf(store), "what is durable").to.deep.equal(rowsOf(model));
            } else if (next === "view" && !store.isStalled) {
              const view = tried.openView();
              expect(view.read(1_000_000).map(text)).to.deep.equal(rowsOf(model));
              view.close();
            }
            expect(rowsOf(tried)).to.deep.equal(rowsOf(model));
            expect(rowsOf(tried, from, to)).to.deep.equal(rowsOf(model, from, to));
            expect(tried.get(from)).to.deep.equal(model.get(from));
            expect(tried.get(from, hashOf(from))).to.deep.equal(model.get(from));
          }
        },
      ),
    );
  });

  it("hands over several batches as one, each row as it is last", () => {
    overlay.write([put("k1", "a"), put("k2", "a")]);
    overlay.write([put("k1", "b"), removal("k2"), put("k3", "b")]);
    expect([inner.batches, rowsOf(inner)]).to.deep.equal([0, []]);
    expect(overlay.flush()).to.equal(true);
    expect([inner.batches, rowsOf(inner)]).to.deep.equal([1, textOf(put("k1", "b"), put("k3", "b"))]);
    overlay.flush();
    expect(inner.batches, "nothing is left").to.equal(1);
  });

  it("reads what was handed over last from memory", () => {
    overlay.write([put("k1", "a"), removal("k2")]);
    overlay.flush();
    inner.get = () => expect.fail("it is in memory");
    expect(overlay.get(bytes("k1"))).to.deep.equal(bytes("a"));
    expect(overlay.get(bytes("k2"))).to.equal(undefined);
  });

  it("keeps nothing in memory of what was far too much", () => {
    const tight = new StateWriteBuffer(inner, { rowsMax: 100, bytesMax: 10 });
    const read: string[] = [];
    const get = inner.get.bind(inner);
    inner.get = (key) => {
      read.push(Buffer.from(key).toString());
      return get(key);
    };
    tight.write([put("k1", "v".repeat(38))]);
    tight.get(bytes("k1"));
    expect(read, "40 bytes").to.deep.equal([]);
    tight.write([put("k2", "v".repeat(39))]);
    expect(tight.get(bytes("k2"))).to.deep.equal(bytes("v".repeat(39)));
    expect(read, "41 bytes").to.deep.equal(["k2"]);
  });

  it("hands over at once what is too much", () => {
    const tight = new StateWriteBuffer(inner, { rowsMax: 3, bytesMax: 20 });
    tight.write([put("k1", "a"), put("k2", "a")]);
    expect(inner.batches).to.equal(0);
    tight.write([put("k3", "a")]);
    expect(inner.batches, "rows").to.equal(1);
    tight.write([put("k1", "0123456789abcdefghij")]);
    expect(inner.batches, "bytes").to.equal(2);
  });

  it("goes on while the store is stalled, until there is no room", () => {
    const tight = new StateWriteBuffer(inner, { rowsMax: 2, bytesMax: 1024 });
    inner.isStalled = true;
    expect(tight.isStalled).to.equal(false);
    tight.write([put("k1", "a")]);
    expect([tight.isStalled, tight.flush()]).to.deep.equal([false, false]);
    tight.write([put("k2", "a")]);
    expect([tight.isStalled, inner.batches]).to.deep.equal([true, 0]);
    inner.isStalled = false;
    expect([tight.isStalled, tight.flush(), inner.batches]).to.deep.equal([false, true, 1]);
  });

  it("keeps what the store has failed to take, and drops nothing of it", () => {
    overlay.write([put("k1", "a")], [range("r1", "r2")]);
    const write = inner.write;
    inner.write = () => {
      throw new Error("the disk is broken");
    };
    expect(() => overlay.flush()).to.throw("broken");
    expect(overlay.get(bytes("k1"))).to.deep.equal(bytes("a"));
    inner.write = write;
    inner.write([put("r1", "old")]);
    expect(overlay.get(bytes("r1"))).to.equal(undefined);
    overlay.flush();
    expect(rowsOf(inner)).to.deep.equal(textOf(put("k1", "a")));
  });

  it("shows no row of a dropped range, though the store has it, and those that are written to it later", () => {
    inner.write([put("r1", "old"), put("r2", "old")]);
    overlay.write([put("r1x", "new")], [range("r1", "r2")]);
    expect(rowsOf(overlay)).to.deep.equal(textOf(put("r2", "old")));
    expect(overlay.get(bytes("r1"))).to.equal(undefined);
    overlay.write([put("r1", "again")]);
    expect(rowsOf(overlay)).to.deep.equal(textOf(put("r1", "again"), put("r2", "old")));
    overlay.flush();
    expect(rowsOf(inner)).to.deep.equal(textOf(put("r1", "again"), put("r2", "old")));
  });
});
