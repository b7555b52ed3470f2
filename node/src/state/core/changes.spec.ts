import { expect } from "chai";
import { InvariantViolation } from "../../primitives/index.ts";
import { type LockChange, readChange, type WatchedChange, writeChange } from "./changes.ts";
import { RecordReader, RecordWriter } from "./record.ts";

const LOCK: LockChange = {
  about: "lock",
  kind: "acquired",
  namespace: "default",
  rw: true,
  name: "lé",
  owner: "o",
  mode: "read",
  token: 7,
  reason: "downgraded",
};
const KEY = Buffer.from("k");
const STORED = { key: KEY, value: Buffer.from("ab"), createRevision: 2, modRevision: 3, version: 2, deadlineMs: 6_000 };

function bytesOf(change: WatchedChange): Uint8Array {
  const writer = new RecordWriter();
  writeChange(writer, change);
  return writer.finish();
}

function changeOf(bytes: Uint8Array, revision: number): WatchedChange {
  const reader = new RecordReader(bytes);
  const change = readChange(reader, revision);
  reader.end();
  return change;
}

describe("changes for watchers", () => {
  it("are read as they were written, of either kind of lock and for any reason", () => {
    for (const kind of ["acquired", "released"] as const) {
      for (const mode of ["exclusive", "read", "write"] as const) {
        for (const reason of ["normal", "expired", "forced", "downgraded", "upgraded", "updated"] as const) {
          const change = { ...LOCK, kind, mode, reason, rw: mode !== "exclusive" };
          expect(changeOf(bytesOf(change), 9)).to.deep.equal(change);
        }
      }
    }
    for (const claim of [
      { mode: "permits", permits: 7 } as const,
      { mode: "exclusive", value: Uint8Array.of(1) } as const,
    ]) {
      const { mode: _, ...lock } = LOCK;
      const change = { ...lock, ...claim, rw: false };
      expect(changeOf(bytesOf(change), 9)).to.deep.equal(change);
    }
    const put = { about: "key", kind: "put", namespace: "n", current: STORED, previous: null } as const;
    const created = { ...STORED, createRevision: 3, version: 1 };
    expect(changeOf(bytesOf({ ...put, current: created }), 3)).to.deep.equal({ ...put, current: created });
  });

  // These bytes are in the state of every member: a change here changes the storage format.
  it("of locks have these bytes", () => {
    const name = `00000007${Buffer.from("default").toString("hex")}${"00000003"}6cc3a9`;
    const owner = "000000016f";
    expect(bytesOf(LOCK).toHex()).to.equal(`03${name}${owner}01${"0000000000000007"}03`);
    const ended = { ...LOCK, kind: "released", rw: false, mode: "exclusive", reason: "forced" } as const;
    expect(bytesOf(ended).toHex()).to.equal(`04${name}${owner}00${"0000000000000007"}02`);
    const permits = { ...ended, mode: "permits", permits: 5 } as const;
    expect(bytesOf(permits).toHex()).to.equal(`04${name}${owner}13${"0000000000000005"}${"0000000000000007"}02`);
    const valued = { ...ended, kind: "acquired", value: Uint8Array.of(9), reason: "updated" } as const;
    expect(bytesOf(valued).toHex()).to.equal(`03${name}${owner}20${"00000001"}09${"0000000000000007"}05`);
  });

  it("are refused after every truncation, with a byte more, and with unknown numbers", () => {
    const whole = bytesOf(LOCK);
    const damages = Array.from(whole, (_, length) => whole.subarray(0, length));
    damages.push(
      Uint8Array.of(...whole, 0),
      whole.with(0, 5),
      whole.with(-1, 6),
      whole.with(-10, 4),
      whole.with(-10, 0x40),
    );
    for (const bytes of damages) {
      expect(() => changeOf(bytes, 9), bytes.toHex()).to.throw(InvariantViolation);
    }
  });
});
