import { expect } from "chai";
import { AppliedLog, OWNER, requestOf } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { type LockMode, lockHoldRow, lockRow, lockTimerRow, lockWaitRow } from "../core/index.ts";
import type { AcquireLock } from "./lock-commands.ts";
import { dueLockTimers, readHold, readHolds, readLock, readWait, visitWaits } from "./lock-rows.ts";

const LOCK = { namespace: "default", rw: true, name: "l" };

function acquire(mode: LockMode, waitMs = 0): AcquireLock {
  const { namespace, name } = LOCK;
  return { kind: "acquire-lock", namespace, name, mode, ttlSeconds: 7, owner: "o", waitMs, fencingToken: 0 };
}

function number(value: number): string {
  return value.toString(16).padStart(16, "0");
}

/** A log whose lock has a delay, a reader, and a waiting writer. */
function lockInUse(): AppliedLog {
  const log = new AppliedLog();
  log.execute({ kind: "create-lock", ...LOCK, ttlSeconds: 30, lockDelaySeconds: 5 });
  log.execute(acquire("read"), { request: requestOf(1) });
  log.execute(acquire("read"));
  log.execute(acquire("write", 900), { request: requestOf(2) });
  const last = readLock(log.store, LOCK)?.lastToken ?? 0;
  log.execute({ kind: "force-release-lock", ...LOCK, fencingToken: last, reason: "" });
  return log;
}

describe("rows of locks", () => {
  // These bytes are in the state of every member: a change here changes the storage format.
  it("have these bytes", () => {
    const log = lockInUse();
    const { tickMs, wallMs, store } = log;
    const row = (key: Uint8Array) => store.get(key)?.toHex();
    const lock = [2, wallMs, 30, 5, 4, 0, 1, 0, 1, tickMs + 5_000].map(number).join("");
    expect(row(lockRow("default", true, "l"))).to.equal(lock);
    const subject = `${OWNER.subject.length.toString(16).padStart(8, "0")}${Buffer.from(OWNER.subject).toString("hex")}`;
    const id = (request: number) => Buffer.from(requestOf(request).requestId).toString("hex");
    const hold = `000000016f ${subject} ${id(1)} 01 ${number(7)} ${number(wallMs)} ${number(tickMs + 7_000)}`;
    expect(row(lockHoldRow(2, 3))).to.equal(hold.replaceAll(" ", ""));
    const wait = `${subject} 00000000 ${number(0)} ${id(2)} 000000016f 02 ${number(7)} ${number(tickMs)} ${number(tickMs + 900)}`;
    expect(row(lockWaitRow(2, 5))).to.equal(wait.replaceAll(" ", ""));
    const reference = Buffer.from(lockRow("default", true, "l")).toString("hex");
    expect(row(lockTimerRow(tickMs + 7_000, 0, 2, 3))).to.equal(reference);
    expect(row(lockTimerRow(tickMs + 900, 1, 2, 5))).to.equal(reference);
    expect(row(lockTimerRow(tickMs + 5_000, 2, 2, 0))).to.equal(reference);
    expect(log.progress.lockTimers).to.equal(3);
  });

  it("are refused after every truncation, and with a byte more", () => {
    const { store } = lockInUse();
    const lock = readLock(store, LOCK);
    if (lock === undefined) {
      throw new Error("there is no lock");
    }
    for (const [key, read] of [
      [lockRow("default", true, "l"), () => readLock(store, LOCK)],
      [lockHoldRow(2, 3), () => readHold(store, lock, 3)],
      [lockWaitRow(2, 5), () => readWait(store, lock, 5)],
    ] as const) {
      const whole = store.get(key) as Uint8Array;
      for (let length = 0; length < whole.length; length++) {
        store.write([{ key, value: whole.slice(0, length) }]);
        expect(read).to.throw(InvariantViolation);
      }
      store.write([{ key, value: Uint8Array.of(...whole, 0) }]);
      expect(read).to.throw(InvariantViolation);
      store.write([{ key, value: whole }]);
      expect(read).not.to.throw();
    }
  });

  it("of a lock that counts other readers than it has are a violation", () => {
    const { store } = lockInUse();
    const lock = readLock(store, LOCK);
    if (lock === undefined) {
      throw new Error("there is no lock");
    }
    expect(readHolds(store, lock)).to.have.length(1);
    expect(() => readHolds(store, { ...lock, readers: 2 })).to.throw(InvariantViolation, "counts its readers");
    expect(() => readHolds(store, { ...lock, exclusiveToken: 9 })).to.throw(InvariantViolation, "is there");
  });

  it("of different locks are kept apart, and waits are in order of arrival", () => {
    const log = new AppliedLog();
    const waiting = new Map<string, number[]>();
    for (const name of ["a", "b"]) {
      log.execute({ kind: "create-lock", ...LOCK, name, ttlSeconds: 30, lockDelaySeconds: 0 });
      log.execute({ ...acquire("write"), name });
      waiting.set(name, []);
    }
    for (let round = 0; round < 300; round++) {
      const name = round % 3 === 0 ? "a" : "b";
      log.execute({ ...acquire("write", 60_000), name });
      waiting.get(name)?.push(log.progress.appliedIndex);
    }
    for (const [name, positions] of waiting) {
      const lock = readLock(log.store, { ...LOCK, name });
      const seen: number[] = [];
      if (lock !== undefined) {
        visitWaits(log.store, lock, ({ position }) => seen.push(position) < 1_000);
      }
      expect(seen).to.deep.equal(positions);
    }
  });

  it("of due timers are listed the earliest first, only before their tick, at most the requested number", () => {
    const log = lockInUse();
    const { tickMs, store } = log;
    const wait = { about: "wait", lock: LOCK, number: 5 };
    const delay = { about: "delay", lock: LOCK, number: 0 };
    const hold = { about: "hold", lock: LOCK, number: 3 };
    expect(dueLockTimers(store, tickMs + 900, 9)).to.deep.equal([]);
    expect(dueLockTimers(store, tickMs + 901, 9)).to.deep.equal([wait]);
    expect(dueLockTimers(store, tickMs + 7_001, 9)).to.deep.equal([wait, delay, hold]);
    expect(dueLockTimers(store, tickMs + 7_001, 2)).to.deep.equal([wait, delay]);
  });
});
