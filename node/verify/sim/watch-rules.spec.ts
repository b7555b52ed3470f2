import { expect } from "chai";
import {
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  type KeyChange,
  type LockChange,
  scanHistory,
} from "../../src/state/index.ts";
import { SharedChange, type WatchMessage } from "../../src/watch/index.ts";
import { acquireLock, createLock, releaseLock } from "../../test/index.ts";
import { AccessRules } from "./access-rules.ts";
import { LockRules } from "./lock-rules.ts";
import { ObservedLog } from "./observed-log.ts";
import { type SentStream, WatchRules } from "./watch-rules.ts";

describe("the rules of watches", () => {
  let rules: WatchRules;
  let log: ObservedLog;

  function put(name: string, value: string, ttlSeconds = 0): void {
    log.ask({
      kind: "put-key",
      namespace: "default",
      key: Buffer.from(name),
      value: Buffer.from(value),
      ttlSeconds,
      expectedModRevision: undefined,
      returnPrevious: false,
    });
  }

  /** Revisions 2 to 7: a key is written twice, deleted, and created again; another one expires. */
  beforeEach(() => {
    rules = new WatchRules({ changed: [] });
    log = new ObservedLog(rules, {
      ...DEFAULT_STATE_LIMITS,
      history: { ...DEFAULT_STATE_LIMITS.history, revisionsMax: 4 },
    });
    put("k", "a");
    put("k", "b");
    log.ask({
      kind: "delete-key",
      namespace: "default",
      key: Buffer.from("k"),
      expectedModRevision: undefined,
      returnPrevious: false,
    });
    put("k", "c");
    put("other", "o", 1);
    log.log.tickMs += 1_001;
    const key = Buffer.from("other");
    const keys = [{ namespace: "default", key, modRevision: 6 }];
    log.lead({ kind: "expire-keys", keys: [...keys, ...keys] });
  });

  /** The changes in the state's history between the two revisions. */
  function changes(from: number, to: number, prefix = ""): WatchMessage["changes"] {
    const found: SharedChange[] = [];
    scanHistory(log.log.store, from, to, ({ changes: made, revision, tickMs }) => {
      const all = made.map((change) => new SharedChange(change, revision, tickMs));
      found.push(...all.filter(({ name }) => Buffer.from(name).toString().startsWith(prefix)));
      return true;
    });
    return found;
  }

  function opened(startRevision: number, prefix = "", floor = 0, namespace = "default"): SentStream {
    const stream: SentStream = { member: 1, about: "key", namespace, prefix, startRevision, floor, next: 0 };
    rules.onOpen(stream);
    return stream;
  }

  function created(startRevision: number, prefix = ""): SentStream {
    const stream = opened(startRevision, prefix);
    rules.onMessage(stream, { kind: "created", changes: [], revision: Math.max(0, startRevision - 1) });
    return stream;
  }

  const tell = (stream: SentStream, revision: number, told: WatchMessage["changes"]): void => {
    rules.onMessage(stream, { kind: told.length === 0 ? "progress" : "changes", changes: told, revision });
  };

  const broken = (rule: string, act: () => void): void => {
    expect(act, rule).to.throw(rule);
  };

  it("hold for the history of the state, from each revision to each", () => {
    for (const prefix of ["", "k", "o", "z"]) {
      for (let from = 1; from <= 7; from++) {
        for (let to = from; to <= 7; to++) {
          const stream = created(from, prefix);
          tell(stream, to, changes(from, to, prefix));
          tell(stream, 7, changes(to + 1, 7, prefix));
        }
      }
    }
    const now = opened(0, "", 7);
    rules.onMessage(now, { kind: "created", changes: [], revision: 7 });
    tell(created(20), 19, []);
    expect(rules.sentCounts.key).to.be.above(100);
    expect(rules.revision).to.equal(7);
  });

  it("S37: send each change once, in order, and leave none out", () => {
    const all = changes(1, 7);
    const rule = "S37 each change is sent once, in order, and none is left out";
    broken(rule, () => tell(created(1), 7, all.slice(1)));
    broken(rule, () => tell(created(1), 7, all.toReversed()));
    broken(rule, () => tell(created(1), 7, [...all, ...all]));
    broken(rule, () => tell(created(1), 6, all));
    broken(rule, () => tell(created(1), 7, []));
    broken(rule, () => tell(created(1, "k"), 7, all));
    broken(rule, () => tell(created(5), 7, all));
    broken(rule, () => {
      const [first, ...rest] = all;
      const { change, revision, tickMs } = first as SharedChange;
      const previous = change.about === "key" ? change.current : null;
      tell(created(1), 7, [new SharedChange({ ...change, previous } as KeyChange, revision, tickMs), ...rest]);
    });
  });

  it("S37: send the changes of one namespace only", () => {
    const other = opened(1, "", 0, "second");
    rules.onMessage(other, { kind: "created", changes: [], revision: 0 });
    broken("S37 each change is sent once, in order, and none is left out", () => tell(other, 7, changes(1, 7)));
    tell(other, 7, []);
  });

  it("S37: send nothing again, and nothing before it has happened", () => {
    const stream = created(1);
    tell(stream, 7, changes(1, 7));
    broken("S37 what was sent is not sent again", () => tell(stream, 5, []));
    broken("S37 nothing is sent before it has happened", () => tell(stream, 8, []));
  });

  it("begin a watch at its requested start, before it sends anything", () => {
    const rule = "a watch begins where it was asked to";
    broken(rule, () => rules.onMessage(opened(3), { kind: "created", changes: [], revision: 3 }));
    broken(rule, () => rules.onMessage(opened(0, "", 5), { kind: "created", changes: [], revision: 4 }));
    broken("a watch is created before it sends anything", () => tell(opened(0), 7, changes(1, 7)));
  });

  it("let a watch begin with the founding, if nothing else was done, and not before", () => {
    rules = new WatchRules({ changed: [] });
    log = new ObservedLog(rules);
    const { revision } = log.log;
    rules.onMessage(opened(0, "", revision), { kind: "created", changes: [], revision });
    broken("a watch begins where it was asked to", () => {
      rules.onMessage(opened(0, "", revision), { kind: "created", changes: [], revision: revision + 1 });
    });
  });

  it("S37: refuse only a compacted start, and say where to resume", () => {
    log.lead({ kind: "trim-history", countMax: 2 });
    expect(rules.compactRevisionOf("default")).to.equal(4);
    const compacted = (revision: number) => {
      return new CoordinationError("COMPACTED", "", { details: new Map([["compact_revision", String(revision)]]) });
    };
    rules.onEnd(opened(2), compacted(4));
    const rule = "S37 only what is not kept is refused";
    broken(rule, () => rules.onEnd(opened(4), compacted(4)));
    broken(rule, () => rules.onEnd(opened(2), compacted(5)));
    const ends = (revision: number) => {
      return new CoordinationError("SHUTTING_DOWN", "", { details: new Map([["resume_revision", String(revision)]]) });
    };
    rules.onEnd(created(5), ends(5));
    broken("S37 a watch resumes after what was sent", () => rules.onEnd(created(5), ends(6)));
  });

  describe("of locks", () => {
    /** Revisions 8 to 12: an exclusive lock and a read-write lock of one name; the first goes to the next waiter. */
    beforeEach(() => {
      const locks = new LockRules(DEFAULT_STATE_LIMITS.lockReadersMax, new AccessRules());
      rules = new WatchRules(locks);
      log = new ObservedLog({
        before: (command, state) => rules.before(command, state),
        after: (executed, state) => {
          locks.after(executed, state);
          rules.after(executed, state);
        },
      });
      log.ask(createLock());
      log.ask(createLock({ rw: true }));
      log.ask(createLock({ name: "other" }));
      put("l", "a");
      log.ask(acquireLock());
      log.ask(acquireLock({ mode: "read" }));
      log.ask(acquireLock({ waitMs: 60_000 }));
      log.ask(releaseLock({ fencingToken: 6 }));
      log.ask(acquireLock({ mode: "write", fencingToken: 7 }));
      log.ask(acquireLock({ name: "other" }));
    });

    const LAST = 11;

    function watched(startRevision: number, prefix = ""): SentStream {
      const named = { namespace: "default", prefix };
      const stream: SentStream = { member: 1, about: "lock", ...named, startRevision, floor: 0, next: 0 };
      rules.onOpen(stream);
      rules.onMessage(stream, { kind: "created", changes: [], revision: startRevision - 1 });
      return stream;
    }

    const ofLocks = (from: number, to: number, prefix = ""): WatchMessage["changes"] => {
      return changes(from, to, prefix).filter(({ change }) => change.about === "lock");
    };

    it("hold for the history of the state, from each revision to each", () => {
      expect([rules.revision, ofLocks(1, LAST).length]).to.deep.equal([LAST, 7]);
      for (const prefix of ["", "l", "o", "z"]) {
        for (let from = 1; from <= LAST; from++) {
          for (let to = from; to <= LAST; to++) {
            const stream = watched(from, prefix);
            tell(stream, to, ofLocks(from, to, prefix));
            tell(stream, LAST, ofLocks(to + 1, LAST, prefix));
          }
        }
      }
      expect(rules.sentCounts.lock).to.be.above(100);
      expect(rules.sentCounts.key).to.equal(0);
    });

    it("S37: send each change once, in order, whole, and leave none out", () => {
      const all = ofLocks(1, LAST);
      const rule = "S37 each change is sent once, in order, and none is left out";
      broken(rule, () => tell(watched(1), LAST, all.slice(1)));
      broken(rule, () => tell(watched(1), LAST, all.toReversed()));
      broken(rule, () => tell(watched(1), LAST, [...all, ...all]));
      broken(rule, () => tell(watched(1, "o"), LAST, all));
      // One half of the upgrade, which is one revision.
      broken(rule, () => tell(watched(10), 10, ofLocks(10, 10).slice(1)));
      broken(rule, () => {
        const [first, ...rest] = all;
        const { change, revision, tickMs } = first as SharedChange;
        const twin = { ...change, rw: true, mode: "write" } as LockChange;
        tell(watched(1), LAST, [new SharedChange(twin, revision, tickMs), ...rest]);
      });
    });

    it("send locks to a watch of locks, and keys to a watch of keys", () => {
      const rule = "a watch of keys gets keys, and a watch of locks gets locks";
      broken(rule, () => tell(watched(1), LAST, changes(1, LAST)));
      broken(rule, () => tell(created(1), LAST, changes(1, LAST)));
    });
  });
});
