import { expect } from "chai";
import type { Lock, LockHold } from "../../api/index.ts";
import { lockKey } from "../../text/index.ts";
import { isAcquirable, kindText, nextToEnd, permitsText, stateText, waiting } from "./lock-text.ts";

function hold(owner: string, expiresInMs: string, sessionId = "0"): LockHold {
  return {
    owner,
    subject: "s",
    fencingToken: "7",
    acquiredAtMs: "0",
    expiresInMs,
    mode: "READ",
    permits: 0,
    value: "",
    sessionId,
  };
}

function lock(changes: Partial<Lock>): Lock {
  return {
    name: "a",
    rw: false,
    state: "FREE",
    holders: [],
    holderCount: 0,
    waitingReaders: 0,
    waitingWriters: 0,
    waits: [],
    ttlSeconds: "30",
    lockDelaySeconds: "0",
    cooldownMs: "0",
    lastFencingToken: "0",
    createdAtMs: "0",
    refusedGuards: "0",
    permits: 0,
    heldPermits: 0,
    ...changes,
  };
}

describe("words for a lock", () => {
  it("name the kind of a lock", () => {
    const kinds = [lock({}), lock({ rw: true }), lock({ permits: 3 })].map(kindText);
    expect(kinds).to.deep.equal(["exclusive", "read-write", "semaphore"]);
  });

  it("count permits, also more than there are any more", () => {
    expect(permitsText(lock({ permits: 1_000, heldPermits: 1_200 }))).to.equal("1,200 of 1,000");
  });

  it("know whether a lock may have one more hold", () => {
    expect(isAcquirable(lock({}))).to.equal(true);
    expect(isAcquirable(lock({ state: "HELD" }))).to.equal(false);
    expect(isAcquirable(lock({ permits: 3, heldPermits: 2, state: "HELD" }))).to.equal(true);
    expect(isAcquirable(lock({ permits: 3, heldPermits: 3, state: "HELD" }))).to.equal(false);
    expect(isAcquirable(lock({ permits: 3, heldPermits: 2, state: "HELD", waitingWriters: 1 }))).to.equal(false);
    expect(isAcquirable(lock({ state: "COOLDOWN" }))).to.equal(false);
    expect(isAcquirable(lock({ rw: true, state: "READ_HELD" }))).to.equal(true);
    expect(isAcquirable(lock({ rw: true, state: "READ_HELD", waitingWriters: 1 }))).to.equal(false);
    expect(isAcquirable(lock({ rw: true, state: "WRITE_HELD" }))).to.equal(false);
  });

  it("know which hold ends first", () => {
    expect(nextToEnd([hold("a", "10000"), hold("b", "9000")])?.owner).to.equal("b");
    expect(nextToEnd([hold("a", "10000"), hold("b", "0", "17")])?.owner, "with a time of its own").to.equal("a");
    expect(nextToEnd([])).to.equal(undefined);
  });

  it("keep exclusive and read-write locks with the same name apart", () => {
    expect(lockKey({ name: "a", rw: true })).not.to.equal(lockKey({ name: "a", rw: false }));
  });

  it("count readers and writers that wait", () => {
    expect(waiting(lock({ waitingReaders: 2, waitingWriters: 3 }))).to.equal(5);
    expect(stateText(lock({ state: "READ_HELD" }))).to.equal("read-held");
  });
});
