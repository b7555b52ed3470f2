import { expect } from "chai";
import { type ClientOperation, DEFAULT_STATE_LIMITS, dueLockTimers } from "../../src/state/index.ts";
import {
  ANNA,
  acquireLock,
  addUser,
  answerText,
  createLock,
  NAMED,
  OWNER,
  releaseLock,
  requestOf,
  updateUser,
} from "../../test/index.ts";
import { AccessRules } from "./access-rules.ts";
import { LockRules } from "./lock-rules.ts";
import { type ExecuteOptions, ObservedLog } from "./observed-log.ts";

describe("the rules of locks", () => {
  let rules: LockRules;
  let log: ObservedLog;

  beforeEach(() => {
    rules = new LockRules(DEFAULT_STATE_LIMITS.lockReadersMax, new AccessRules());
    log = new ObservedLog(rules);
    log.ask(createLock({ ttlSeconds: 2, lockDelaySeconds: 1 }));
    log.ask(createLock({ rw: true, ttlSeconds: 2 }));
  });

  const acquire = (changes: Parameters<typeof acquireLock>[0] = {}, manner: ExecuteOptions = {}) => {
    return log.ask(acquireLock(changes), manner);
  };

  /** The request waits for up to a minute. */
  const wait = (request: number, changes: Parameters<typeof acquireLock>[0] = {}, manner: ExecuteOptions = {}) => {
    return acquire({ waitMs: 60_000, ...changes }, { request, ...manner });
  };

  function expire(afterMs: number, pretend?: ExecuteOptions["pretend"]): void {
    log.log.tickMs += afterMs;
    for (;;) {
      const timers = dueLockTimers(log.log.store, log.log.tickMs, 1);
      if (timers.length === 0) {
        return;
      }
      log.lead({ kind: "expire-locks", timers }, pretend);
    }
  }

  function cancel(request: number, seq: number, pretend?: ExecuteOptions["pretend"], { subject } = OWNER): void {
    const { requestId } = requestOf(request);
    const attempt = { memberId: 1, boot: 1, seq };
    log.lead({ kind: "cancel-acquisition", subject, requestId, attempt }, pretend);
  }

  function putUnder(fencingToken: number, changes: { readonly rw?: boolean } = {}): ClientOperation {
    return {
      kind: "put-key",
      namespace: "default",
      key: Buffer.from("k"),
      value: Buffer.from("v"),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
      guard: { lockName: NAMED.name, fencingToken, rw: false, ...changes },
    };
  }

  const broken = (rule: string, act: () => void): void => {
    expect(act, rule).to.throw(rule);
  };

  it("hold for what the state machine makes of all operations", () => {
    acquire({}, { request: 1 });
    wait(2);
    wait(3);
    wait(2, {}, { seq: 20 });
    log.ask(putUnder(4));
    log.ask(putUnder(3));
    cancel(2, 2);
    cancel(2, 20);
    expire(2_001);
    expire(1_001);
    wait(3);
    log.ask(releaseLock());
    log.ask(releaseLock({ fencingToken: 4 }));
    wait(5, { mode: "read" });
    wait(6, { mode: "write" });
    wait(7, { mode: "read" });
    log.ask({ kind: "force-release-lock", ...NAMED, rw: true, fencingToken: 0, reason: "" });
    expire(60_001);
    expire(2_001);
    acquire({ mode: "read" }, { request: 8 });
    acquire({ mode: "write", fencingToken: log.log.revision });
    acquire({ mode: "read", fencingToken: log.log.revision });
    expect([rules.grants, rules.fenced, rules.expiries.size]).to.deep.equal([7, 1, 3]);
  });

  it("P53: let a guarded write count while its hold is live, and only then", () => {
    acquire();
    const token = log.log.revision;
    broken("P53 a guarded write counts only while its hold is live", () => {
      log.ask(putUnder(token), { pretend: ({ command }) => ({ command: guardedBy(command, token - 1) }) });
    });
    broken("P53 a guarded write counts while its hold is live", () => {
      log.ask(putUnder(token - 1), { pretend: ({ command }) => ({ command: guardedBy(command, token) }) });
    });
  });

  function guardedBy<Command extends { readonly operation: unknown }>(command: Command, fencingToken: number): Command {
    const operation = command.operation as Extract<ClientOperation, { readonly kind: "put-key" }>;
    return { ...command, operation: { ...operation, guard: { ...operation.guard, fencingToken } } };
  }

  it("I23: let a hold end when its time is up, and not before", () => {
    acquire();
    broken("I23 a hold ends when its time is up, and not before", () => {
      expire(2_001, ({ tickMs }) => ({ tickMs: tickMs - 1 }));
    });
  });

  it("S21: give a hold its whole time, from its grant and from its renewal", () => {
    broken("S21 a hold has its whole time from its grant", () => {
      acquire({}, { pretend: ({ tickMs }) => ({ tickMs: tickMs + 1 }) });
    });
    log.log.tickMs += 10;
    broken("S21 a hold has its whole time from its renewal", () => {
      acquire({ fencingToken: log.log.revision }, { pretend: ({ tickMs }) => ({ tickMs: tickMs - 1 }) });
    });
  });

  it("S24: lose no waiter, and give each its outcome", () => {
    acquire();
    wait(2, { waitMs: 100 });
    log.log.tickMs += 101;
    const timers = dueLockTimers(log.log.store, log.log.tickMs, 1);
    broken("S24 no waiter is lost", () => {
      log.lead({ kind: "expire-locks", timers }, ({ tickMs }) => ({ tickMs: tickMs - 1 }));
    });
    wait(3);
    broken("S24 each waiter gets the outcome of its wait", () => {
      log.ask(releaseLock(), { pretend: () => ({ settled: [] }) });
    });
  });

  it("S24: give a hold to its requester, and name no other hold in an answer", () => {
    acquire({}, { request: 1 });
    rules.onAnsweredHold(OWNER.subject, requestOf(1).requestId, log.log.revision);
    broken("S24 an answer names only a hold that the request was granted", () => {
      rules.onAnsweredHold(OWNER.subject, requestOf(1).requestId, log.log.revision - 1);
    });
    log.ask(releaseLock());
    broken("S24 holds go to those who ask", () => {
      acquire({}, { request: 2, pretend: ({ command }) => ({ command: sentAs(command, 1) }) });
    });
  });

  function sentAs<Command extends { readonly request: unknown }>(command: Command, request: number): Command {
    return { ...command, request: requestOf(request) };
  }

  describe("of revoked waiters", () => {
    /** The entry that has revoked the guest, as the rules see it; null = none. */
    let revokedAt: number | null;

    /** The owner holds the lock; behind it waits a guest, and behind the guest the owner again. */
    beforeEach(() => {
      revokedAt = null;
      rules = new LockRules(DEFAULT_STATE_LIMITS.lockReadersMax, {
        revokedAt: ({ subject }) => (subject === ANNA.subject ? revokedAt : null),
      });
      log = new ObservedLog(rules);
      addUser(log.log, ANNA);
      log.ask(createLock());
      acquire({}, { request: 1 });
      wait(2, {}, { principal: ANNA });
      wait(3);
    });

    const disable = (): void => {
      log.ask(updateUser(ANNA.subject, { status: "disabled" }));
      revokedAt = log.log.rows.length;
    };

    it("hold where they get nothing, and the lock goes to the next waiter", () => {
      disable();
      log.ask(releaseLock());
      expect(log.log.settled.map(({ outcome }) => answerText(outcome))).to.deep.equal([
        "TOKEN_REVOKED",
        `token ${log.log.revision}`,
      ]);
      expect(rules.grants).to.equal(2);
    });

    it("hold where they get nothing because the hold before them is undone", () => {
      disable();
      cancel(1, 1);
      expect(log.log.settled.map(({ outcome }) => answerText(outcome))).to.deep.equal([
        "TOKEN_REVOKED",
        `token ${log.log.revision}`,
      ]);
      expect(rules.grants).to.equal(2);
    });

    it("hold where a revoked guest waits, or writes under a hold", () => {
      disable();
      wait(2, {}, { principal: ANNA });
      log.ask(putUnder(log.log.revision + 1), { principal: ANNA });
      cancel(2, 2, undefined, ANNA);
      expect([rules.grants, rules.fenced]).to.deep.equal([1, 0]);
    });

    it("give no lock to any of them", () => {
      revokedAt = 1;
      broken("revocation: no lock goes to a waiter who was revoked", () => log.ask(releaseLock()));
    });

    it("S24: lose no waiter that was not revoked", () => {
      disable();
      revokedAt = null;
      broken("S24 no waiter is lost", () => log.ask(releaseLock()));
    });
  });

  it("S25: let a request be undone by its newest attempt alone", () => {
    acquire({}, { request: 1 });
    wait(2);
    for (const request of [2, 1]) {
      broken("S25 a request is undone by its newest attempt alone", () => {
        cancel(request, request, ({ command }) => ({ command: undoneBy(command, 77) }));
      });
    }
  });

  function undoneBy<Command extends { readonly operation: object }>(command: Command, seq: number): Command {
    return { ...command, operation: { ...command.operation, attempt: { memberId: 1, boot: 1, seq } } };
  }

  it("S26: let only its token release a hold, and let refused commands change nothing", () => {
    acquire();
    const token = log.log.revision;
    broken("S26 a hold is released by its token and its owner alone", () => {
      const pretend: ExecuteOptions["pretend"] = ({ command }) => ({
        command: { ...command, operation: releaseLock({ fencingToken: token - 1 }) } as typeof command,
      });
      log.ask(releaseLock({ fencingToken: token }), { pretend });
    });
    acquire();
    const { answer } = log.ask(releaseLock({ fencingToken: token }));
    broken("S26 what is refused leaves the lock as it was", () => {
      log.ask(releaseLock(), { pretend: () => ({ outcome: { answer, replayed: "no" } }) });
    });
  });

  it("S22: let no expired hold be named for ever", () => {
    const timers = [{ about: "hold", lock: { ...NAMED, rw: false }, number: 99 }] as const;
    broken("S22 what has run out is named until it ends", () => {
      for (let times = 0; times < 30; times++) {
        log.lead({ kind: "expire-locks", timers });
      }
    });
  });

  it("S28: let tokens be revisions that grow for ever", () => {
    broken("S28 tokens are revisions, and grow for ever", () => {
      acquire({}, { pretend: ({ revision }) => ({ revisionAfter: revision }) });
    });
  });

  it("S28: hold for an entry that passes several locks on, in any order", () => {
    log.ask(createLock({ name: "m", ttlSeconds: 2 }));
    acquire({ name: "m" }, { request: 1 });
    wait(2, { name: "m" });
    log.log.tickMs++;
    acquire({ mode: "write" }, { request: 3 });
    wait(4, { mode: "write" });
    wait(5, { mode: "write", waitMs: 1_000 });
    log.log.tickMs += 2_001;
    const timers = dueLockTimers(log.log.store, log.log.tickMs, 3);
    expect(timers.map(({ about, lock }) => `${about} ${lock.name}`)).to.deep.equal(["wait l", "hold m", "hold l"]);
    log.lead({ kind: "expire-locks", timers });
    expect(rules.grants).to.equal(4);
  });

  it("S29: let no request wait for a lock that it could get", () => {
    log = new ObservedLog(rules, { ...DEFAULT_STATE_LIMITS, lockReadersMax: 1 });
    log.ask(createLock({ rw: true }));
    acquire({ mode: "read" });
    broken("S29 no request waits for a lock that it could get", () => wait(1, { mode: "read" }));
  });

  it("let only readers get a lock before its delay is over", () => {
    acquire();
    expire(2_001);
    const { tickMs } = log.log;
    log.log.tickMs += 1_001;
    const timers = dueLockTimers(log.log.store, log.log.tickMs, 1);
    log.lead({ kind: "expire-locks", timers });
    acquire();
    log.ask({ kind: "force-release-lock", ...NAMED, rw: false, fencingToken: 0, reason: "" });
    wait(4);
    log.log.tickMs += 2_000;
    broken("only readers get a lock before its delay is over", () => {
      const due = dueLockTimers(log.log.store, log.log.tickMs, 1);
      log.lead({ kind: "expire-locks", timers: due }, () => ({ tickMs }));
    });
  });
});
