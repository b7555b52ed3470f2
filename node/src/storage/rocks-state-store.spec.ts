import { join } from "node:path";
import { expect } from "chai";
import { itIsAMemberStateStore, TemporaryDirectories } from "../../test/harness/index.ts";
import { InvariantViolation, listenToMarks } from "../raft/index.ts";
import { Rocks } from "./rocks.ts";
import { RocksStateStore } from "./rocks-state-store.ts";
import { StoreError } from "./store-error.ts";

const OPTIONS = { createIfMissing: true, compression: false, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const bytes = (text: string): Uint8Array => Buffer.from(text);

describe("RocksStateStore", () => {
  const directories = new TemporaryDirectories();
  let rocks: Rocks;
  let store: RocksStateStore;
  let fatal: StoreError[];

  beforeEach(async () => {
    fatal = [];
    rocks = await Rocks.open(join(directories.make(), "state-1"), OPTIONS);
    store = new RocksStateStore(rocks, (error) => fatal.push(error));
  });
  afterEach(async () => {
    listenToMarks(null);
    await store.close();
    await rocks.close();
    directories.removeAll();
  });

  describe("as any state store of a member", () => {
    itIsAMemberStateStore(async () => ({ store, settle: () => undefined }));
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

  it("passes a crash point before and after each batch", () => {
    const passed: string[] = [];
    listenToMarks((name) => passed.push(name));
    store.write([{ key: bytes("k"), value: bytes("v") }]);
    expect(passed).to.deep.equal(["state.batch.before", "state.batch.after"]);
  });

  it("tells when a sync is done, in a turn of its own, and can be synced again", async () => {
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
});
