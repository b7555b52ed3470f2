import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { temporaryDirectory, until } from "../../../test/harness/index.ts";
import { AppliedLog } from "../../../test/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { PROGRESS_ROW, type Row, readProgress } from "../../state/index.ts";
import { INSTALL_CRASH_POINTS, type StoreError } from "../files/index.ts";
import { Rocks } from "../rocks/index.ts";
import type { StateReplacement } from "./member-state-store.ts";
import { RocksStateStore } from "./rocks-state-store.ts";
import { readSnapshotOrigin } from "./snapshot-origin.ts";

const OPTIONS = { createIfMissing: true, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const MIB = 1024 * 1024;
/** The progress row: entry 1 of term 1 is applied. */
const PROGRESS: Row = { key: PROGRESS_ROW, value: new AppliedLog().store.get(PROGRESS_ROW) as Uint8Array };

// A context that is created after the flag is set has a function that collects garbage.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function key(number: number): Uint8Array {
  const bytes = Buffer.alloc(9, "d");
  bytes.writeDoubleBE(number, 1);
  return bytes;
}

describe("a replacement of the state, on a disk", function () {
  this.timeout(60_000);
  let directory: string;
  let store: RocksStateStore;
  let fatal: StoreError[];

  beforeEach(async () => {
    fatal = [];
    directory = temporaryDirectory();
    writeFileSync(join(directory, "state"), "state-1\n");
    store = await open("state-1");
  });
  afterEach(async () => {
    listenToMarks(null);
    await store.close();
  });

  async function open(name: string): Promise<RocksStateStore> {
    return new RocksStateStore(await Rocks.open(join(directory, name), OPTIONS), (error) => fatal.push(error));
  }

  /** The state that the next start opens. */
  const live = (): string => readFileSync(join(directory, "state"), "utf8").trim();
  const stateDirectories = (): string[] => readdirSync(directory).filter((name) => name.startsWith("state-"));
  const begin = (): Promise<StateReplacement> => new Promise((resolve) => store.beginReplacement(resolve));
  const write = (replacement: StateReplacement, rows: readonly Row[]): Promise<void> =>
    new Promise((resolve) => replacement.write(rows, resolve));
  const finish = (replacement: StateReplacement, index = 1, term = 1): Promise<void> =>
    new Promise((resolve) => replacement.finish(index, term, resolve));
  const place = (replacement: StateReplacement): Promise<void> => new Promise((resolve) => replacement.place(resolve));

  async function placed(
    rows: readonly Row[] = [{ key: key(1), value: Buffer.from("new") }],
  ): Promise<StateReplacement> {
    const replacement = await begin();
    await write(replacement, [PROGRESS, ...rows]);
    await finish(replacement);
    await place(replacement);
    return replacement;
  }

  it("grows in the next directory, which only the owner may enter", async () => {
    await begin();
    expect(stateDirectories()).to.have.members(["state-1", "state-2"]);
    expect(statSync(join(directory, "state-2")).mode & 0o777).to.equal(0o700);
    expect(live()).to.equal("state-1");
  });

  it("begins empty, whatever lies in its directory", async () => {
    const left = await Rocks.open(join(directory, "state-2"), OPTIONS);
    left.write([{ key: key(9), value: Buffer.from("left") }], true);
    await left.close();
    store.switchTo(await placed());
    expect(store.get(key(9))).to.equal(undefined);
    expect(store.get(key(1))).to.deep.equal(Buffer.from("new"));
  });

  it("is deleted when the store is closed before it was placed", async () => {
    const replacement = await begin();
    await write(replacement, [PROGRESS, { key: key(1), value: Buffer.from("new") }]);
    await store.close();
    expect(stateDirectories()).to.deep.equal(["state-1"]);
    expect(fatal).to.deep.equal([]);
  });

  it("is what a reopening finds once it is placed, switched to or not, with the mark of its snapshot", async () => {
    await placed();
    expect(live()).to.equal("state-2");
    expect(store.get(key(1)), "the live state goes on").to.equal(undefined);
    await store.close();
    const rocks = await Rocks.open(join(directory, live()), { ...OPTIONS, createIfMissing: false });
    expect(readSnapshotOrigin(rocks)).to.deep.equal({ index: 1, term: 1 });
    expect(readProgress(rocks).appliedIndex).to.equal(1);
    await rocks.close();
    store = await open(live());
    expect(store.get(key(1))).to.deep.equal(Buffer.from("new"));
  });

  it("is not what a reopening finds before it is placed", async () => {
    const replacement = await begin();
    await write(replacement, [PROGRESS]);
    await finish(replacement);
    await store.close();
    expect(live()).to.equal("state-1");
    const rocks = await Rocks.open(join(directory, live()), { ...OPTIONS, createIfMissing: false });
    expect(readSnapshotOrigin(rocks)).to.equal(null);
    await rocks.close();
  });

  it("takes the place of the former state, which is deleted behind it; so does the next one", async () => {
    for (const name of ["state-2", "state-3"]) {
      store.write([{ key: key(2), value: Buffer.from("former") }]);
      store.switchTo(await placed());
      store.write([{ key: key(3), value: Buffer.from(name) }]);
      await new Promise<void>((resolve) => store.sync(resolve));
      await until("the former state is deleted", () => stateDirectories().length === 1);
      expect([live(), ...stateDirectories()]).to.deep.equal([name, name]);
    }
    await store.close();
    store = await open("state-3");
    expect(store.get(key(2))).to.equal(undefined);
    expect(store.get(key(3))).to.deep.equal(Buffer.from("state-3"));
    expect(fatal).to.deep.equal([]);
  });

  it("leaves nothing when it is abandoned, at any step", async () => {
    for (const steps of [0, 1, 2]) {
      const replacement = await begin();
      if (steps > 0) {
        await write(replacement, [PROGRESS]);
      }
      if (steps > 1) {
        await finish(replacement);
      }
      replacement.abandon();
      await until("it is deleted", () => !existsSync(join(directory, "state-2")));
    }
    expect(live()).to.equal("state-1");
    expect(fatal).to.deep.equal([]);
  });

  it("is abandoned while a step is in flight", async () => {
    const replacement = await begin();
    replacement.write([PROGRESS, { key: key(1), value: Buffer.alloc(MIB) }], () =>
      fatal.push(new Error() as StoreError),
    );
    replacement.abandon();
    await until("it is deleted", () => !existsSync(join(directory, "state-2")));
    expect(fatal).to.deep.equal([]);
  });

  it("is given up when the store is closed while it is being opened", async () => {
    store.beginReplacement(() => fatal.push(new Error() as StoreError));
    await store.close();
    expect(stateDirectories()).to.deep.equal(["state-1"]);
    expect(fatal).to.deep.equal([]);
  });

  it("takes values as large as they come", async () => {
    const sizes = [0, 1, 256 * 1024, 5 * MIB, 11 * MIB];
    const rows = sizes.map((size, at) => ({ key: key(at), value: Buffer.alloc(size, at + 1) }));
    const replacement = await begin();
    await write(replacement, [PROGRESS]);
    for (const row of rows) {
      await write(replacement, [row]);
    }
    await finish(replacement);
    await place(replacement);
    store.switchTo(replacement);
    const view = store.openView();
    const read: Row[] = [];
    for (let piece = view.read(MIB); piece.length > 0; piece = view.read(MIB)) {
      read.push(...piece);
    }
    view.close();
    expect(read.map(({ key: found }) => found)).to.deep.equal(
      [PROGRESS_ROW, ...rows.map((row) => row.key)].map(Buffer.from),
    );
    for (const [at, row] of rows.entries()) {
      expect(Buffer.compare(read[at + 1]?.value as Uint8Array, row.value), `value of ${sizes[at]} bytes`).to.equal(0);
    }
  });

  it("passes on 100,000 rows with little of them in memory (P41)", async () => {
    const [rows, valueBytes] = [100_000, 500];
    const [batch, bounded] = [1_000, 16 * MIB];
    for (let at = 0; at < rows; at += batch) {
      store.write(
        Array.from({ length: batch }, (_, row) => ({ key: key(at + row), value: Buffer.alloc(valueBytes, row) })),
      );
    }
    store.write([PROGRESS]);
    const before = await heldBytes();
    const view = store.openView();
    const replacement = await begin();
    let passed = 0;
    for (let piece = view.read(MIB); piece.length > 0; piece = view.read(MIB)) {
      expect(piece.length, "the work of a turn is bounded").to.be.at.most(1024);
      passed += piece.length;
      await write(replacement, piece);
      if (passed % (32 * 1024) === 0) {
        expect((await heldBytes()) - before).to.be.lessThan(bounded);
      }
    }
    view.close();
    expect(passed).to.equal(rows + 1);
    await finish(replacement);
    await place(replacement);
    store.switchTo(replacement);
    expect(store.get(key(rows - 1))).to.deep.equal(Buffer.alloc(valueBytes, batch - 1));
    expect((await heldBytes()) - before).to.be.lessThan(bounded);
  });

  it("passes its crash points in order", async () => {
    const passed: string[] = [];
    listenToMarks((name) => passed.push(name));
    store.switchTo(await placed());
    await until("the former state is deleted", () => passed.includes("install.delete.after"));
    // Other specs kill a process at the crash points of the state thread.
    const here = INSTALL_CRASH_POINTS.filter((point) => !/rows|finish|place/.test(point));
    expect(passed).to.deep.equal([...here]);
  });

  it("ends the member when the snapshot has come less far than it was announced, before it is placed", async () => {
    const replacement = await begin();
    await write(replacement, [PROGRESS]);
    replacement.finish(2, 1, () => undefined);
    const [error] = await until("the failure", () => fatal.length > 0 && fatal);
    expect(error?.message).to.include("a snapshot has come as far as it was announced");
    expect(live()).to.equal("state-1");
  });

  it("ends the member when the snapshot does not say how far it has come", async () => {
    const replacement = await begin();
    await write(replacement, []);
    replacement.finish(1, 1, () => undefined);
    const [error] = await until("the failure", () => fatal.length > 0 && fatal);
    expect(error?.message).to.include("a snapshot says how far it has come");
  });

  it("ends the member when its directory cannot be made", async () => {
    // The open store may make files while a directory is removed, which then stays.
    const away = `${directory}-away`;
    renameSync(directory, away);
    store.beginReplacement(() => undefined);
    const [error] = await until("the failure", () => fatal.length > 0 && fatal);
    renameSync(away, directory);
    expect([error?.kind, error?.message]).to.deep.equal(["io", error?.message]);
    expect(error?.message).to.include("the state cannot be replaced: ENOENT");
  });

  it("ends the member when the pointer cannot be replaced, with the former state still live", async () => {
    const replacement = await begin();
    await write(replacement, [PROGRESS]);
    await finish(replacement);
    mkdirSync(join(directory, "state.new"));
    replacement.place(() => undefined);
    const [error] = await until("the failure", () => fatal.length > 0 && fatal);
    expect(error?.message).to.include("EISDIR");
    expect(live()).to.equal("state-1");
  });
});

/** Bytes that Node holds outside of its heap, after a collection. */
async function heldBytes(): Promise<number> {
  collectGarbage();
  // Finalizers run in a later turn; the next collection waits until the one before has freed its buffers.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
