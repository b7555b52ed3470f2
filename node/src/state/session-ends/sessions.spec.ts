import { expect } from "chai";
import {
  ANNA,
  AppliedLog,
  acquireLock,
  addUser,
  applyRows,
  BEN,
  createLock,
  dumpOf,
  expectExactUsage,
  MemoryStateStore,
  machineOver,
  OWNER,
  putOf,
  releaseLock,
  requestOf,
} from "../../../test/index.ts";
import {
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  decodeText,
  type Hold,
  type Principal,
  readHistory,
  readNamespaceUsage,
  type StateLimits,
  type StoredKey,
} from "../core/index.ts";
import { mayBeLong } from "../index.ts";
import { listKeys, readKey } from "../keys/index.ts";
import { type AcquireLock, type AcquireLockResult, describeLock } from "../locks/index.ts";
import type { RenewSessionsResult } from "../sessions/index.ts";
import { dueSessions, listSessions, readSession } from "../sessions/index.ts";

const NAMESPACE = "default";
const TTL_SECONDS = 10;
const NO_BYTES = new Uint8Array(0);

class Sessions {
  readonly log: AppliedLog;

  constructor(limits: Partial<StateLimits> = {}, users: readonly Principal[] = [ANNA, BEN]) {
    this.log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, ...limits });
    for (const one of users) {
      addUser(this.log, one, { role: "member" });
    }
  }

  create(principal: Principal = ANNA, ttlSeconds = TTL_SECONDS): number {
    const asked = { kind: "create-session", namespace: NAMESPACE, ttlSeconds, owner: "", metadata: NO_BYTES } as const;
    return this.log.result(asked, { principal }).sessionId;
  }

  put(key: string, sessionId?: number, principal: Principal = ANNA): StoredKey {
    this.log.result(putOf(key, "v", sessionId === undefined ? {} : { sessionId }), { principal });
    return this.read(key) as StoredKey;
  }

  read(key: string): StoredKey | undefined {
    return readKey(this.log.store, NAMESPACE, Buffer.from(key));
  }

  refusal(operation: Parameters<AppliedLog["refusal"]>[0], principal: Principal = ANNA): string {
    return this.log.refusal(operation, { principal }).reason;
  }

  renew(principal: Principal, ...sessionIds: number[]) {
    const renewals = [{ principal, namespace: NAMESPACE, sessionIds }];
    const outcome = this.log.lead({ kind: "renew-sessions", renewals });
    return (outcome as { answer: RenewSessionsResult }).answer.renewed[0];
  }

  end(sessionId: number, principal: Principal = ANNA, force = false) {
    return this.log.result({ kind: "end-session", namespace: NAMESPACE, sessionId, force }, { principal });
  }

  /** Lets the leader end what is due. */
  expire(): void {
    const sessions = dueSessions(this.log.store, this.log.tickMs, 100, 10_000);
    this.log.lead({ kind: "expire-sessions", sessions });
  }

  get keys(): readonly string[] {
    const bounds = { entriesMax: 10_000, bytesMax: 1e9, keysOnly: true };
    return listKeys(this.log.store, NAMESPACE, NO_BYTES, undefined, bounds).keys.map(({ key }) => decodeText(key));
  }

  changesAt(revision: number): readonly string[] {
    const changes = readHistory(this.log.store, revision)?.changes ?? [];
    return changes.map((change) =>
      change.about === "key" ? `${change.kind} ${decodeText(change.current.key)}` : change.kind,
    );
  }
}

describe("sessions", () => {
  it("have the revision of their creation as id, and belong to their user", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    expect(sessionId).to.equal(sessions.log.revision);
    expect(readSession(sessions.log.store, NAMESPACE, sessionId)).to.deep.include({
      subject: ANNA.subject,
      owner: ANNA.subject,
      ttlSeconds: TTL_SECONDS,
      deadlineMs: sessions.log.tickMs + 10_000,
      objects: 0,
      bytes: 0,
    });
    expect(sessions.log.progress.totals.sessions).to.equal(1);
    expectExactUsage(sessions.log.store);
  });

  it("end with all their keys at one revision, which watchers see as expiries in the order of the keys", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    for (const key of ["b", "a", "c"]) {
      expect(sessions.put(key, sessionId).sessionId).to.equal(sessionId);
    }
    sessions.put("other");
    expectExactUsage(sessions.log.store);
    sessions.log.tickMs += 10_000;
    sessions.expire();
    expect(sessions.keys, "not before the deadline has passed").to.have.length(4);
    sessions.log.tickMs += 1;
    const before = sessions.log.revision;
    sessions.expire();
    expect(sessions.log.revision).to.equal(before + 1);
    expect(sessions.changesAt(before + 1)).to.deep.equal(["expire a", "expire b", "expire c"]);
    expect(sessions.keys).to.deep.equal(["other"]);
    expect(readSession(sessions.log.store, NAMESPACE, sessionId)).to.equal(undefined);
    expect(sessions.log.progress.totals.sessions).to.equal(0);
    expectExactUsage(sessions.log.store);
  });

  it("S44: end in steps, with the same outcome and state as in one go", () => {
    const sessions = new Sessions({}, []);
    const { log } = sessions;
    const [ended, expiring] = [sessions.create(OWNER), sessions.create(OWNER)];
    for (let at = 0; at < 300; at++) {
      sessions.put(`a${at}`, ended, OWNER);
      sessions.put(`b${at}`, expiring, OWNER);
    }
    sessions.end(ended, OWNER);
    log.tickMs += 10_001;
    sessions.expire();
    const rows = log.rows.slice(-2);
    expect(rows.map((row) => mayBeLong(row, 1_000_000))).to.deep.equal([true, true]);
    const store = new MemoryStateStore();
    const machine = machineOver(store);
    applyRows(machine, log.rows.slice(0, -2));
    for (const row of rows) {
      const running = machine.applyInSteps(row);
      let steps = 1;
      while (running.next().done !== true) {
        steps++;
      }
      expect(steps).to.be.above(4);
      machine.commit();
    }
    expect(dumpOf(store)).to.deep.equal(log.dump());
  });

  it("leave nothing behind", () => {
    const sessions = new Sessions();
    const before = sessions.log.progress.dataBytes;
    const sessionId = sessions.create();
    sessions.put("a", sessionId);
    sessions.end(sessionId);
    sessions.log.tickMs += 1e9;
    sessions.log.lead({ kind: "drop-replays" });
    const rows = sessions.log.dump().filter((row) => "tZOY".includes(row[0] as string));
    expect(rows).to.deep.equal([]);
    expect(sessions.log.progress.dataBytes).to.equal(before);
    expect(readNamespaceUsage(sessions.log.store, NAMESPACE)).to.include({ sessions: 0, bytes: 0, keys: 0 });
  });

  it("S21, S22: live on after a renewal, also if their end was proposed before", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    sessions.put("a", sessionId);
    sessions.log.tickMs += 10_001;
    const stale = dueSessions(sessions.log.store, sessions.log.tickMs, 100, 100);
    expect(stale).to.deep.equal([{ namespace: NAMESPACE, sessionId }]);
    const deadlineMs = sessions.log.tickMs + 10_000;
    expect(sessions.renew(ANNA, sessionId)).to.deep.equal([{ sessionId, deadlineMs }]);
    sessions.log.lead({ kind: "expire-sessions", sessions: stale });
    expect(sessions.keys).to.deep.equal(["a"]);
    expect(dueSessions(sessions.log.store, deadlineMs, 100, 100)).to.deep.equal([]);
    expect(dueSessions(sessions.log.store, deadlineMs + 1, 100, 100)).to.deep.equal(stale);
  });

  it("are renewed only by their user, and only as long as that user may write", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    expect(sessions.renew(BEN, sessionId)).to.deep.equal([{ sessionId, deadlineMs: 0 }]);
    expect(sessions.renew(ANNA, sessionId + 1)).to.deep.equal([{ sessionId: sessionId + 1, deadlineMs: 0 }]);
    expect(sessions.renew({ subject: "user-none", apiKeyId: "" }, sessionId)).to.equal(null);
    expect(readSession(sessions.log.store, NAMESPACE, sessionId)?.deadlineMs).to.equal(sessions.log.tickMs + 10_000);
  });

  it("end when their user says so: watchers see deletions, and an answer is given once", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    sessions.put("a", sessionId);
    const asked = { kind: "end-session", namespace: NAMESPACE, sessionId, force: false } as const;
    expect(sessions.refusal(asked, BEN)).to.equal("ACCESS_DENIED");
    const request = requestOf(1);
    const first = sessions.log.execute(asked, { principal: ANNA, request });
    expect(first.answer).to.include({ kind: "end-session", endedObjects: 1, revision: sessions.log.revision });
    expect(sessions.changesAt(sessions.log.revision)).to.deep.equal(["delete a"]);
    const again = sessions.log.execute(asked, { principal: ANNA, request });
    expect([again.replayed, again.answer]).to.deep.equal(["yes", first.answer]);
    expect(sessions.refusal(asked)).to.equal("SESSION_NOT_FOUND");
    expect(sessions.refusal(putOf("b", "v", { sessionId }))).to.equal("SESSION_NOT_FOUND");
  });

  it("of another user end only by force, which needs the access admin", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    const asked = { kind: "end-session", namespace: NAMESPACE, sessionId, force: true } as const;
    expect(sessions.refusal(asked, BEN)).to.equal("ACCESS_DENIED");
    expect(sessions.end(sessionId, OWNER, true).endedObjects).to.equal(0);
  });

  it("lose a key that is put without them, put into another one, or deleted", () => {
    const sessions = new Sessions();
    const [one, other] = [sessions.create(), sessions.create()];
    for (const key of ["kept", "freed", "moved", "deleted"]) {
      sessions.put(key, one);
    }
    expect(sessions.put("freed")).not.to.have.property("sessionId");
    sessions.put("moved", other);
    const key = Buffer.from("deleted");
    const asked = { namespace: NAMESPACE, key, expectedModRevision: undefined, returnPrevious: true } as const;
    expect(sessions.log.result({ kind: "delete-key", ...asked }).previous?.sessionId).to.equal(one);
    expectExactUsage(sessions.log.store);
    expect(sessions.end(one).endedObjects).to.equal(1);
    expect(sessions.keys).to.deep.equal(["freed", "moved"]);
    expect(sessions.end(other).endedObjects).to.equal(1);
    expect(sessions.keys).to.deep.equal(["freed"]);
  });

  it("keep their keys through touches and increments, and lose those that expire earlier", () => {
    const sessions = new Sessions();
    const sessionId = sessions.create();
    sessions.log.result(putOf("n", "1", { sessionId }), { principal: ANNA });
    const key = Buffer.from("n");
    const touch = {
      kind: "touch-key",
      namespace: NAMESPACE,
      key,
      ttlSeconds: 2,
      expectedModRevision: undefined,
    } as const;
    sessions.log.result(touch, { principal: ANNA });
    const increment = { kind: "increment-key", namespace: NAMESPACE, key, delta: 9n, ttlSeconds: 0 } as const;
    const all = { conditions: [], success: [increment], failure: [] };
    sessions.log.result({ kind: "transact", namespace: NAMESPACE, ...all }, { principal: ANNA });
    expect(sessions.read("n")).to.deep.include({ sessionId, deadlineMs: sessions.log.tickMs + 2_000 });
    expect(readSession(sessions.log.store, NAMESPACE, sessionId)).to.include({ objects: 1, bytes: 3 });
    sessions.log.tickMs += 2_001;
    const { modRevision } = sessions.read("n") as StoredKey;
    sessions.log.lead({ kind: "expire-keys", keys: [{ namespace: NAMESPACE, key, modRevision }] });
    expect(sessions.keys).to.deep.equal([]);
    expect(readSession(sessions.log.store, NAMESPACE, sessionId)).to.include({ objects: 0, bytes: 0 });
    expectExactUsage(sessions.log.store);
  });

  it("have at most so many keys, and so many bytes of them", () => {
    const sessions = new Sessions({ sessionObjectsMax: 2, sessionBytesMax: 10 });
    const [one, other] = [sessions.create(), sessions.create()];
    sessions.put("a", one);
    sessions.put("b", one);
    sessions.put("b", one);
    const refused = sessions.log.refusal(putOf("c", "v", { sessionId: one }), { principal: ANNA });
    expect([refused.reason, refused.details.get("quota")]).to.deep.equal(["QUOTA", "session.objects"]);
    const longer = sessions.log.refusal(putOf("a", "12345678", { sessionId: one }), { principal: ANNA });
    expect([longer.reason, longer.details.get("quota")]).to.deep.equal(["QUOTA", "session.bytes"]);
    sessions.log.result(putOf("a", "1234567", { sessionId: one }), { principal: ANNA });
    const before = sessions.log.dump();
    expect(sessions.refusal(putOf("d", "1234567890", { sessionId: other }))).to.equal("QUOTA");
    const changed = sessions.log.dump().filter((row) => !before.includes(row) && "dxtZOY".includes(row[0] as string));
    expect(changed, "a refusal changes nothing").to.deep.equal([]);
    expectExactUsage(sessions.log.store);
  });

  it("are at most as many as a namespace may have", () => {
    const sessions = new Sessions({ namespaceSessionsMax: 2 });
    sessions.create();
    const second = sessions.create();
    const asked = {
      kind: "create-session",
      namespace: NAMESPACE,
      ttlSeconds: 1,
      owner: "",
      metadata: NO_BYTES,
    } as const;
    const refused = sessions.log.refusal(asked, { principal: ANNA });
    expect([refused.reason, refused.details.get("quota")]).to.deep.equal(["QUOTA", "quota.namespace.sessions"]);
    sessions.end(second);
    sessions.create();
  });

  it("end in groups that are bounded by what belongs to them, each at its own revision", () => {
    const sessions = new Sessions();
    const ids = [sessions.create(), sessions.create(), sessions.create()];
    for (const [at, sessionId] of ids.entries()) {
      for (let key = 0; key <= at * 2; key++) {
        sessions.put(`${at}-${key}`, sessionId);
      }
    }
    const tickMs = sessions.log.tickMs + 10_001;
    const due = (countMax: number, objectsMax: number) =>
      dueSessions(sessions.log.store, tickMs, countMax, objectsMax).map(({ sessionId }) => sessionId);
    expect(due(3, 100)).to.deep.equal(ids);
    expect(due(2, 100)).to.deep.equal(ids.slice(0, 2));
    expect(due(3, 4)).to.deep.equal(ids.slice(0, 2));
    expect(due(3, 0)).to.deep.equal(ids.slice(0, 1));
    const before = sessions.log.revision;
    sessions.log.tickMs = tickMs;
    sessions.expire();
    expect(sessions.log.revision).to.equal(before + 3);
    expect(sessions.keys).to.deep.equal([]);
  });

  it("are listed by namespace in the order of their creation", () => {
    const sessions = new Sessions();
    const ids = Array.from({ length: 5 }, () => sessions.create());
    const page = (after: number, entriesMax: number) => {
      const { sessions: found, more } = listSessions(sessions.log.store, NAMESPACE, after, {
        entriesMax,
        bytesMax: 1e6,
      });
      return [found.map(({ sessionId }) => sessionId), more];
    };
    expect(page(0, 3)).to.deep.equal([ids.slice(0, 3), true]);
    expect(page(ids[2] as number, 3)).to.deep.equal([ids.slice(3), false]);
    expect(() => listSessions(sessions.log.store, "none", 0, { entriesMax: 1, bytesMax: 1 })).to.throw(
      CoordinationError,
    );
  });

  it("leave the same state on every member, whatever the batches", () => {
    const log = new AppliedLog();
    const asked = {
      kind: "create-session",
      namespace: NAMESPACE,
      ttlSeconds: 1,
      owner: "",
      metadata: NO_BYTES,
    } as const;
    const ids = [log.result(asked).sessionId, log.result(asked).sessionId];
    for (let at = 0; at < 5; at++) {
      log.result(putOf(`k${at}`, "v", { sessionId: ids[at % 2] as number }));
    }
    log.lead({ kind: "renew-sessions", renewals: [{ principal: OWNER, namespace: NAMESPACE, sessionIds: ids }] });
    log.result({ kind: "end-session", namespace: NAMESPACE, sessionId: ids[0] as number, force: false });
    const store = new MemoryStateStore();
    applyRows(machineOver(store), log.rows);
    expect(dumpOf(store)).to.deep.equal(log.dump());
  });

  describe("with holds of locks", () => {
    const LOCK = { namespace: NAMESPACE, name: "l" };
    let sessions: Sessions;
    beforeEach(() => {
      sessions = new Sessions();
      sessions.log.result(createLock({ lockDelaySeconds: 0 }));
    });

    /** The outcome of an acquisition, which is not answered yet if it waits. */
    function acquire(sessionId: number, changes: Partial<AcquireLock> = {}, principal: Principal = ANNA) {
      const { answer } = sessions.log.execute({ ...acquireLock(changes), sessionId }, { principal });
      if (answer instanceof CoordinationError) {
        throw answer;
      }
      return answer as AcquireLockResult;
    }

    function holdsOf(name = "l", rw = false): readonly Hold[] {
      return describeLock(sessions.log.store, { namespace: NAMESPACE, rw, name }).holds;
    }

    it("last as long as the session, and end with it and its keys at one revision; the next one gets the lock then", () => {
      const sessionId = sessions.create();
      const { hold } = acquire(sessionId);
      expect(hold).to.include({ sessionId, ttlSeconds: 0, deadlineMs: 0 });
      expect(sessions.log.progress.lockTimers).to.equal(0);
      sessions.put("leader", sessionId);
      const waiting = sessions.log.execute(acquireLock({ waitMs: 60_000 }), { principal: BEN });
      expect(waiting.answer).to.include({ kind: "queued-lock" });
      expectExactUsage(sessions.log.store);
      for (let at = 0; at < 5; at++) {
        sessions.log.tickMs += 9_000;
        sessions.renew(ANNA, sessionId);
      }
      expect(holdsOf()).to.deep.equal([hold]);
      sessions.log.tickMs += 10_001;
      const before = sessions.log.revision;
      sessions.expire();
      expect(sessions.changesAt(before + 1)).to.deep.equal(["expire leader", "released"]);
      expect(sessions.changesAt(before + 2)).to.deep.equal(["acquired"]);
      expect(holdsOf().map(({ subject }) => subject)).to.deep.equal([BEN.subject]);
      expect(sessions.log.settled).to.have.length(1);
      expectExactUsage(sessions.log.store);
    });

    it("end at the revision in the answer, after which the next one gets the lock", () => {
      const sessionId = sessions.create();
      acquire(sessionId);
      sessions.log.execute(acquireLock({ waitMs: 60_000 }), { principal: BEN });
      const before = sessions.log.revision;
      expect(sessions.end(sessionId)).to.include({ endedObjects: 1, revision: before + 1 });
      expect(holdsOf().map(({ token }) => token)).to.deep.equal([before + 2]);
    });

    it("start the delay of the lock if the session expires, and not if its user ends it", () => {
      sessions.log.result(createLock({ name: "slow", lockDelaySeconds: 5 }));
      const stateOf = () => describeLock(sessions.log.store, { ...LOCK, rw: false, name: "slow" }).state;
      const one = sessions.create();
      acquire(one, { name: "slow" });
      sessions.end(one);
      expect(stateOf()).to.equal("free");
      acquire(sessions.create(), { name: "slow" });
      sessions.log.tickMs += 10_001;
      sessions.expire();
      expect(stateOf()).to.equal("cooldown");
    });

    it("leave the session when they are released, and keep it through an upgrade and a downgrade", () => {
      const sessionId = sessions.create();
      sessions.log.result(createLock({ rw: true, name: "rw" }));
      const objects = () => readSession(sessions.log.store, NAMESPACE, sessionId)?.objects;
      const read = acquire(sessionId, { name: "rw", mode: "read" }).hold as Hold;
      const change = (mode: "read" | "write", fencingToken: number) => {
        const { answer } = sessions.log.execute(acquireLock({ name: "rw", mode, fencingToken }), { principal: ANNA });
        return (answer as AcquireLockResult).hold as Hold;
      };
      const write = change("write", read.token);
      expect(write).to.include({ sessionId, deadlineMs: 0, mode: "write" });
      expect(write.token).to.be.above(read.token);
      expect(objects()).to.equal(1);
      const again = change("read", write.token);
      expect(again).to.include({ sessionId, deadlineMs: 0, token: write.token });
      expect(objects()).to.equal(1);
      sessions.log.result(releaseLock({ name: "rw", rw: true, fencingToken: again.token }), { principal: ANNA });
      expect(objects()).to.equal(0);
      expect(sessions.log.progress.lockTimers).to.equal(0);
    });

    it("are refused without a session of the caller, and without room in it", () => {
      const sessionId = sessions.create();
      const asked = (id: number) => ({ ...acquireLock(), sessionId: id });
      expect(sessions.refusal(asked(sessionId), BEN)).to.equal("ACCESS_DENIED");
      expect(sessions.refusal(asked(sessionId + 1))).to.equal("SESSION_NOT_FOUND");
      const { hold } = acquire(sessionId);
      const renewal = { ...acquireLock({ fencingToken: hold?.token as number }), sessionId };
      const refused = sessions.log.refusal(renewal, { principal: ANNA });
      expect([refused.reason, refused.details.get("field")]).to.deep.equal(["BAD_FIELD", "session_id"]);
      const small = new Sessions({ sessionObjectsMax: 1 });
      small.log.result(createLock());
      const full = small.create();
      small.put("a", full);
      expect(small.refusal(asked(full))).to.equal("QUOTA");
    });

    it("are not granted to a request that waits once its session has ended", () => {
      const { answer } = sessions.log.execute(acquireLock(), { principal: BEN });
      const { token } = (answer as AcquireLockResult).hold as Hold;
      const [lost, live] = [sessions.create(), sessions.create()];
      for (const sessionId of [lost, live]) {
        sessions.log.execute({ ...acquireLock({ waitMs: 60_000 }), sessionId }, { principal: ANNA });
      }
      sessions.end(lost);
      sessions.log.result(releaseLock({ fencingToken: token }), { principal: BEN });
      const outcomes = sessions.log.settled.map(({ outcome }) => outcome.answer);
      expect((outcomes[0] as CoordinationError).reason).to.equal("SESSION_NOT_FOUND");
      expect((outcomes[1] as AcquireLockResult).hold).to.include({ sessionId: live });
      expect(readSession(sessions.log.store, NAMESPACE, live)?.objects).to.equal(1);
    });

    it("guard writes by the session itself", () => {
      const sessionId = sessions.create();
      const guard = { lockName: "", fencingToken: sessionId, rw: false };
      sessions.log.result(putOf("a", "v", { guard }), { principal: BEN });
      sessions.end(sessionId);
      const refused = sessions.log.refusal(putOf("a", "w", { guard }), { principal: BEN });
      expect([refused.reason, refused.details.get("session_id")]).to.deep.equal(["FENCED", String(sessionId)]);
      expect(refused.message).to.include(`session ${sessionId}`);
    });

    it("end with deletion of the lock, and with the namespace", () => {
      const sessionId = sessions.create();
      acquire(sessionId);
      const remove = { kind: "delete-lock", ...LOCK, rw: false, force: true } as const;
      sessions.log.result(remove);
      expect(readSession(sessions.log.store, NAMESPACE, sessionId)?.objects).to.equal(0);
      expectExactUsage(sessions.log.store);
    });
  });
});
