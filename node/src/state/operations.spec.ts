import { expect } from "chai";
import { AppliedLock, acquireLock, NAMED, putOf } from "../../test/index.ts";
import { Payloads } from "./event-logs/index.ts";
import { extraRowsOf } from "./operations.ts";

const READ = { mode: "read" } as const;
const RELEASE = { kind: "release-lock", ...NAMED, rw: true, mode: null, owner: "", fencingToken: 0 } as const;

describe("extraRowsOf", () => {
  it("counts the events of a batch beyond the first, and nothing for a put", () => {
    const { store } = new AppliedLock().log;
    const append = (events: number) => ({
      kind: "append-events" as const,
      logId: new Uint8Array(16),
      isBatch: true,
      idempotencyKey: "k",
      expectedSequence: undefined,
      payloads: Payloads.of(Array.from({ length: events }, () => Buffer.from("e"))),
    });
    expect([1, 2, 1_000].map((events) => extraRowsOf(store, append(events)))).to.deep.equal([0, 1, 999]);
    expect(extraRowsOf(store, putOf("k", "v"))).to.equal(0);
  });

  it("counts what belongs to a session, for its end", () => {
    const { log } = new AppliedLock();
    const fields = { namespace: "default", ttlSeconds: 10, owner: "", metadata: new Uint8Array(0) };
    const { sessionId } = log.result({ kind: "create-session", ...fields });
    for (const key of ["a", "b", "c"]) {
      log.result(putOf(key, "v", { sessionId }));
    }
    const end = { kind: "end-session", namespace: "default", sessionId, force: false } as const;
    expect(extraRowsOf(log.store, end)).to.equal(3);
    expect(extraRowsOf(log.store, { ...end, sessionId: 1 }), "no session").to.equal(0);
  });

  it("counts the readers of a read-write lock, and those that wait, for what may end a hold", () => {
    const locks = new AppliedLock({ rw: true });
    locks.ask(READ);
    locks.ask(READ);
    locks.ask({ waitMs: 60_000 });
    locks.ask({ ...READ, waitMs: 60_000 });
    const { store } = locks.log;
    const force = { kind: "force-release-lock", ...NAMED, rw: true, fencingToken: 0, reason: "" } as const;
    expect([RELEASE, { ...RELEASE, fencingToken: 7 }, force].map((one) => extraRowsOf(store, one))).to.deep.equal([
      3, 3, 3,
    ]);
    expect(extraRowsOf(store, acquireLock({ ...READ, fencingToken: 7 })), "a downgrade, or a renewal").to.equal(3);
    expect(extraRowsOf(store, acquireLock(READ)), "a new hold").to.equal(0);
    expect(extraRowsOf(store, { ...RELEASE, rw: false }), "an exclusive lock").to.equal(0);
    expect(extraRowsOf(store, { ...RELEASE, name: "none" }), "no lock").to.equal(0);
  });
});
