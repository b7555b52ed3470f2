/**
 * The behaviour of every implementation of MemberStateStore, as one suite of cases. Stores on a disk and in memory must
 * not differ in anything that the driver can see.
 */

import { expect } from "chai";
import { compareBytes, hashOf } from "../../src/bytes/index.ts";
import { InvariantViolation } from "../../src/primitives/index.ts";
import { type Row, readProgress } from "../../src/state/index.ts";
import type { MemberStateStore, StateReplacement, StateView } from "../../src/storage/index.ts";
import { AppliedLog, putOf, rowsOf } from "../index.ts";

/** A store to try, empty. */
export interface StateUnderTest {
  readonly store: MemberStateStore;
  /** Lets all requested work happen, where it does not happen by itself. */
  drain(): void;
}

/** A whole state, and the last entry in it. */
interface Snapshot {
  readonly rows: readonly Row[];
  readonly index: number;
  readonly term: number;
}

/** A row of a table that is kept in memory: namespaces. */
const HOT_ROW = Buffer.from("n-hot");
const PIECE_BYTES = 300;

const row = (key: string, value: string): Row => ({ key: Buffer.from(key), value: Buffer.from(value) });

const textOf = (rows: readonly Row[]): string[] =>
  rows.map(({ key, value }) => `${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`);

/** A founded cluster with this many keys. */
function snapshotOf(keys: number): Snapshot {
  const log = new AppliedLog();
  for (let number = 0; number < keys; number++) {
    log.execute(putOf(`key-${number}`, Buffer.alloc(number, "v")));
  }
  const { appliedIndex, appliedTerm } = log.progress;
  return { rows: rowsOf(log.store), index: appliedIndex, term: appliedTerm };
}

function readAll(view: StateView, maxBytes: number): Row[] {
  const rows: Row[] = [];
  for (let piece = view.read(maxBytes); piece.length > 0; piece = view.read(maxBytes)) {
    const bytes = piece.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    expect(piece.length === 1 || bytes <= maxBytes, `a piece of ${piece.length} rows has ${bytes} bytes`).to.equal(
      true,
    );
    rows.push(...piece);
  }
  expect(view.read(maxBytes), "the end stays the end").to.deep.equal([]);
  return rows;
}

/** Adds the cases to the present suite; `open` makes a store for each of them. */
export function itIsAMemberStateStore(open: () => Promise<StateUnderTest>): void {
  let store: MemberStateStore;
  let settle: () => void;

  beforeEach(async () => {
    const opened = await open();
    store = opened.store;
    settle = () => opened.drain();
  });

  /** Resolves when `start` calls its callback, which it must not do at once. */
  function done<T = void>(start: (callback: (result: T) => void) => void): Promise<T> {
    const called = new Promise<T>((resolve) => {
      let isLater = false;
      start((result) => {
        expect(isLater, "a callback comes in a turn of its own").to.equal(true);
        resolve(result);
      });
      isLater = true;
    });
    settle();
    return called;
  }

  const begin = () => done<StateReplacement>((callback) => store.beginReplacement(callback));
  const sync = () => done((callback) => store.sync(callback));

  async function fill(replacement: StateReplacement, { rows }: Snapshot): Promise<void> {
    for (let at = 0; at < rows.length; at += 7) {
      await done((callback) => replacement.write(rows.slice(at, at + 7), callback));
    }
  }

  async function place(snapshot: Snapshot): Promise<StateReplacement> {
    const replacement = await begin();
    await fill(replacement, snapshot);
    await done((callback) => replacement.finish(snapshot.index, snapshot.term, callback));
    await done((callback) => replacement.place(callback));
    return replacement;
  }

  it("shows what was written last, whatever was read ahead", () => {
    const keys = ["d1", "d2", "d3", "n-hot"].map((key) => Buffer.from(key));
    const ahead = keys.map((key) => ({ key, hash: hashOf(key) }));
    const model = new Map<string, string>();
    const expectWritten = (): void => {
      for (const { key, hash } of ahead) {
        const written = model.get(String(key));
        for (const read of [store.get(key), store.get(key, hash)]) {
          expect(read === undefined ? read : Buffer.from(read).toString(), String(key)).to.equal(written);
        }
      }
    };
    for (let step = 0; step < 12; step++) {
      store.readAhead?.(ahead.slice(0, 1 + (step % ahead.length)));
      expectWritten();
      const key = keys[(step * 3) % keys.length] as Buffer;
      const value = step % 5 === 4 ? null : Buffer.from(String(step));
      store.write([{ key, value }]);
      if (value === null) {
        model.delete(String(key));
      } else {
        model.set(String(key), String(value));
      }
      expectWritten();
      if (step % 3 === 2) {
        store.readAhead?.(ahead);
        store.flush();
        expectWritten();
      }
    }
  });

  it("shows in a view all rows of the state, in any pieces, and none of its own", async () => {
    const { rows } = snapshotOf(40);
    store.write(rows);
    await sync();
    for (const maxBytes of [1, PIECE_BYTES, 1_000_000]) {
      const view = store.openView();
      expect(textOf(readAll(view, maxBytes))).to.deep.equal(textOf(rows));
      view.close();
    }
  });

  it("shows an empty state as no rows", () => {
    const view = store.openView();
    expect(view.read(PIECE_BYTES)).to.deep.equal([]);
    view.close();
  });

  it("shows in a view what was there when it was opened, whatever is written meanwhile", async () => {
    const { rows } = snapshotOf(40);
    store.write(rows);
    const view = store.openView();
    const later = store.openView();
    const seen = [...view.read(PIECE_BYTES)];
    store.write(rows.map(({ key }) => ({ key, value: null })));
    store.write([row("d0", "new"), row("u9", "new")]);
    await sync();
    expect(textOf([...seen, ...readAll(view, PIECE_BYTES)])).to.deep.equal(textOf(rows));
    view.close();
    expect(textOf(readAll(later, PIECE_BYTES))).to.deep.equal(textOf(rows));
    later.close();
    const now = store.openView();
    expect(textOf(readAll(now, PIECE_BYTES))).to.deep.equal(textOf([row("d0", "new"), row("u9", "new")]));
    now.close();
  });

  it("drops ranges of rows behind the changes of a batch, whatever those have put there", async () => {
    store.write([row("r1", "a"), row("r2", "b"), row("r3", "c"), row("s", "d")]);
    const before = store.openView();
    const range = (from: string, to: string) => ({ from: Buffer.from(from), to: Buffer.from(to) });
    store.write([row("r1x", "e"), row("r2x", "f"), row("r4", "g")], [range("r1", "r2"), range("r3", "r30")]);
    const left = textOf([row("r2", "b"), row("r2x", "f"), row("r4", "g"), row("s", "d")]);
    expect(textOf(rowsOf(store))).to.deep.equal(left);
    expect(store.get(Buffer.from("r1"))).to.equal(undefined);
    const after = store.openView();
    expect(textOf(readAll(after, PIECE_BYTES))).to.deep.equal(left);
    expect(readAll(before, PIECE_BYTES).length, "a view of before").to.equal(4);
    before.close();
    after.close();
    await sync();
    store.write([row("r1", "again")]);
    expect(store.get(Buffer.from("r1"))).to.deep.equal(Buffer.from("again"));
  });

  it("leaves nothing out of a view after scans that found the beginnings of tables deleted", () => {
    const tables = ["d", "n", "t", "x"];
    store.write(tables.flatMap((table) => [row(`${table}1`, "a"), row(`${table}2`, "b")]));
    store.write(tables.map((table) => ({ key: Buffer.from(`${table}1`), value: null })));
    store.write([{ key: Buffer.from("x2"), value: null }]);
    for (const table of tables) {
      const from = Buffer.from(table);
      store.scan(from, Uint8Array.of((from[0] as number) + 1), () => false);
    }
    store.write([row("t0", "c")]);
    const view = store.openView();
    expect(textOf(readAll(view, PIECE_BYTES))).to.deep.equal(
      textOf([row("d2", "b"), row("n2", "b"), row("t0", "c"), row("t2", "b")]),
    );
    view.close();
  });

  it("is not read through a view that was closed; closing it again is nothing", () => {
    const view = store.openView();
    view.close();
    view.close();
    expect(() => view.read(PIECE_BYTES)).to.throw(InvariantViolation, "a view is read before it is closed");
  });

  it("becomes the replacement when it is switched to, and not before", async () => {
    const before = [row("d-old", "1"), row("n-hot", "old"), row("t-old", "1")];
    store.write(before);
    expect(store.get(HOT_ROW)).to.deep.equal(Buffer.from("old"));
    store.scan(Buffer.from("t"), Buffer.from("u"), () => true);
    const snapshot = snapshotOf(40);
    const replacement = await place(snapshot);
    expect(textOf(rowsOf(store))).to.deep.equal(textOf(before));

    store.switchTo(replacement);
    expect(textOf(rowsOf(store))).to.deep.equal(textOf(snapshot.rows));
    expect(readProgress(store).appliedIndex).to.equal(snapshot.index);
    expect(store.get(HOT_ROW), "a row that was kept in memory").to.equal(undefined);
    let rows = 0;
    store.scan(Buffer.from("t"), Buffer.from("u"), () => ++rows > 0);
    expect(rows, "a table whose beginning was known").to.equal(
      snapshot.rows.filter(({ key }) => key[0] === 0x74).length,
    );
  });

  it("goes on as any state after a switch: batches, syncs, views, another replacement", async () => {
    const [first, second] = [snapshotOf(5), snapshotOf(9)];
    store.switchTo(await place(first));
    store.write([row("d-new", "1"), row("n-hot", "new")]);
    await sync();
    expect(store.get(HOT_ROW)).to.deep.equal(Buffer.from("new"));
    expect(store.isStalled).to.equal(false);
    const view = store.openView();
    const expected = [...first.rows, row("d-new", "1"), row("n-hot", "new")].sort((a, b) => compareBytes(a.key, b.key));
    expect(textOf(readAll(view, PIECE_BYTES))).to.deep.equal(textOf(expected));
    view.close();
    store.switchTo(await place(second));
    expect(textOf(rowsOf(store))).to.deep.equal(textOf(second.rows));
  });

  it("takes batches and syncs of the live state while a replacement grows", async () => {
    const snapshot = snapshotOf(12);
    const replacement = await begin();
    for (const [number, piece] of snapshot.rows.entries()) {
      store.write([row("d-live", `${number}`)]);
      let isSynced = false;
      store.sync(() => {
        isSynced = true;
      });
      await done((callback) => replacement.write([piece], callback));
      expect(isSynced, "what was asked for first is done first").to.equal(true);
    }
    await done((callback) => replacement.finish(snapshot.index, snapshot.term, callback));
    await sync();
    await done((callback) => replacement.place(callback));
    store.write([row("d-live", "last")]);
    store.switchTo(replacement);
    expect(textOf(rowsOf(store))).to.deep.equal(textOf(snapshot.rows));
  });

  it("abandons a replacement, and keeps nothing of it in the next one", async () => {
    const abandoned = await begin();
    await done((callback) => abandoned.write([row("d-abandoned", "1")], callback));
    abandoned.abandon();
    abandoned.abandon();
    const snapshot = snapshotOf(3);
    store.switchTo(await place(snapshot));
    expect(textOf(rowsOf(store))).to.deep.equal(textOf(snapshot.rows));
  });

  it("abandons an unplaced replacement for a new one, and calls back no more for the old one", async () => {
    const called: string[] = [];
    store.beginReplacement(() => called.push("begun"));
    const first = await begin();
    first.write([row("d-first", "1")], () => called.push("written"));
    const second = await begin();
    await fill(second, snapshotOf(2));
    second.finish(3, 1, () => called.push("finished"));
    const snapshot = snapshotOf(4);
    const replacement = await place(snapshot);
    expect(called).to.deep.equal([]);
    store.switchTo(replacement);
    expect(textOf(rowsOf(store))).to.deep.equal(textOf(snapshot.rows));
  });

  it("enforces the order of the steps", async () => {
    const snapshot = snapshotOf(2);
    const refuses = (rule: string, action: () => void) => expect(action).to.throw(InvariantViolation, rule);
    const nothing = () => undefined;
    const replacement = await begin();
    refuses("rows of the replicated state alone", () => replacement.write([row("y", "1")], nothing));
    refuses("rows of the replicated state alone", () => replacement.write([row("z1", "1")], nothing));
    refuses("a finished state is placed", () => replacement.place(nothing));
    refuses("the placed replacement is switched to", () => store.switchTo(replacement));
    const written = done((callback) => {
      replacement.write(snapshot.rows, callback);
      refuses("one step of a replacement is in flight", () => replacement.write(snapshot.rows, nothing));
    });
    await written;
    await done((callback) => replacement.finish(snapshot.index, snapshot.term, callback));
    refuses("before the state is finished", () => replacement.write([], nothing));
    refuses("a state is finished once", () => replacement.finish(snapshot.index, snapshot.term, nothing));
    refuses("the placed replacement is switched to", () => store.switchTo(replacement));
    const placed = done((callback) => replacement.place(callback));
    refuses("a state that was placed is not abandoned", () => replacement.abandon());
    await placed;
    refuses("a finished state is placed, once", () => replacement.place(nothing));
    refuses("a state that was placed is not abandoned", () => replacement.abandon());
    refuses("a state that was placed is not abandoned", () => store.beginReplacement(nothing));
    const view = store.openView();
    refuses("no view of the former state is open", () => store.switchTo(replacement));
    view.close();
    const synced = done((callback) => {
      store.sync(callback);
      refuses("no sync of the former state is in flight", () => store.switchTo(replacement));
    });
    await synced;
    store.switchTo(replacement);
    refuses("the placed replacement is switched to", () => store.switchTo(replacement));
  });
}
