import { expect } from "chai";
import {
  type ClientOperation,
  DEFAULT_STATE_LIMITS,
  dueLockTimers,
  type RevisionChanges,
  type StateReader,
  scanHistory,
} from "../../src/state/index.ts";
import { acquireLock, createLock, NAMED, releaseLock } from "../../test/index.ts";
import { AccessRules } from "./access-rules.ts";
import type { ExpectedChange } from "./expected-changes.ts";
import type { ExecutedCommand } from "./live-execution.ts";
import { checkKept, lockChangesOf } from "./lock-changes.ts";
import { type ChangedLock, LockRules } from "./lock-rules.ts";
import { ObservedLog } from "./observed-log.ts";

/** A command, its changes, and the words for them. */
interface Executed {
  readonly executed: ExecutedCommand;
  readonly changed: readonly ChangedLock[];
  readonly made: readonly ExpectedChange[];
}

describe("the changes of locks that watchers must get", () => {
  let log: ObservedLog;
  let all: Executed[];

  beforeEach(() => {
    all = [];
    const rules = new LockRules(DEFAULT_STATE_LIMITS.lockReadersMax, new AccessRules());
    log = new ObservedLog({
      after: (executed, state) => {
        rules.after(executed, state);
        const made = lockChangesOf(executed, rules.changed);
        checkKept(executed, state, made);
        all.push({ executed, changed: rules.changed, made });
      },
    });
    log.ask(createLock({ ttlSeconds: 2 }));
    log.ask(createLock({ rw: true, ttlSeconds: 2 }));
  });

  const acquire = (changes: Parameters<typeof acquireLock>[0], request: number) => {
    log.ask(acquireLock({ owner: `o${request}`, ...changes }), { request });
  };
  const wait = (changes: Parameters<typeof acquireLock>[0], request: number) => {
    acquire({ waitMs: 60_000, ...changes }, request);
  };
  const last = (): Executed => all.at(-1) as Executed;
  /** The changes that watchers must get from the last command. */
  const told = (): readonly string[] => last().made.map(({ words }) => words);
  const force = (rw: boolean): ClientOperation => {
    return { kind: "force-release-lock", ...NAMED, rw, fencingToken: 0, reason: "" };
  };

  function expire(afterMs: number): void {
    log.log.tickMs += afterMs;
    log.lead({ kind: "expire-locks", timers: dueLockTimers(log.log.store, log.log.tickMs, 10) });
  }

  it("are a beginning at its token, and an end before the holds that it lets in", () => {
    acquire({}, 1);
    expect(told()).to.deep.equal(["acquired 4 (exclusive, normal) of o1, exclusive l at 4"]);
    wait({}, 2);
    expect(told()).to.deep.equal([]);
    log.ask(releaseLock({ fencingToken: 4 }));
    expect(told()).to.deep.equal([
      "released 4 (exclusive, normal) of o1, exclusive l at 5",
      "acquired 6 (exclusive, normal) of o2, exclusive l at 6",
    ]);
    expect(last().made.map(({ name, revision }) => `${name} ${revision}`)).to.deep.equal(["l 5", "l 6"]);
  });

  it("are an upgrade at one revision, and a downgrade before the readers that it lets in", () => {
    acquire({ mode: "read" }, 1);
    acquire({ mode: "write", fencingToken: 4, owner: "" }, 2);
    expect(told()).to.deep.equal([
      "released 4 (read, upgraded) of o1, read-write l at 5",
      "acquired 5 (write, upgraded) of o1, read-write l at 5",
    ]);
    wait({ mode: "read" }, 3);
    acquire({ mode: "read", fencingToken: 5, owner: "" }, 4);
    expect(told()).to.deep.equal([
      "acquired 5 (read, downgraded) of o1, read-write l at 6",
      "acquired 7 (read, normal) of o3, read-write l at 7",
    ]);
    acquire({ mode: "read", fencingToken: 5, owner: "" }, 5);
    expect(told(), "a renewal").to.deep.equal([]);
  });

  it("are ends by force, all at one revision", () => {
    acquire({ mode: "read" }, 1);
    acquire({ mode: "read" }, 2);
    log.ask(force(true));
    expect(told()).to.deep.equal([
      "released 4 (read, forced) of o1, read-write l at 6",
      "released 5 (read, forced) of o2, read-write l at 6",
    ]);
    log.ask(force(true));
    expect(told()).to.deep.equal([]);
  });

  it("are the ends of several locks by one entry, each before the holds that it lets in", () => {
    acquire({}, 1);
    wait({}, 2);
    acquire({ mode: "read" }, 3);
    acquire({ mode: "read" }, 4);
    wait({ mode: "write" }, 5);
    expire(2_001);
    expect(told()).to.deep.equal([
      "released 4 (exclusive, expired) of o1, exclusive l at 7",
      "acquired 8 (exclusive, normal) of o2, exclusive l at 8",
      "released 5 (read, expired) of o3, read-write l at 9",
      "released 6 (read, expired) of o4, read-write l at 10",
      "acquired 11 (write, normal) of o5, read-write l at 11",
    ]);
  });

  it("break a rule where an end does not come before what it lets in", () => {
    acquire({}, 1);
    wait({}, 2);
    log.ask(releaseLock({ fencingToken: 4 }));
    const { executed, changed } = last();
    const [one] = changed as [ChangedLock];
    const rule = "S37 ends come before what they let in";
    // As if the new hold had begun first, or a revision had no change.
    const early = { ...one, granted: one.granted.map((hold) => ({ ...hold, token: 5 })) };
    expect(() => lockChangesOf(executed, [early])).to.throw(rule);
    expect(() => lockChangesOf({ ...executed, revisionAfter: 7 }, changed)).to.throw(rule);
  });

  it("break a rule where the history has other changes", () => {
    acquire({ mode: "read" }, 1);
    acquire({ mode: "write", fencingToken: 4, owner: "" }, 2);
    const { executed, made } = last();
    const rule = "S37 the history has each beginning and end of a hold, as it was";
    expect(() => checkKept(executed, log.log.store, made)).not.to.throw();
    expect(() => checkKept(executed, log.log.store, made.toReversed())).to.throw(rule);
    expect(() => checkKept(executed, log.log.store, made.slice(1))).to.throw(rule);
    expect(() => checkKept({ ...executed, revision: executed.revisionAfter }, log.log.store, made)).to.throw(rule);
  });

  it("are all that the history has of locks", () => {
    acquire({ mode: "write" }, 1);
    wait({ mode: "read" }, 2);
    log.ask(releaseLock({ rw: true, fencingToken: 4 }));
    expire(2_001);
    expect(all.flatMap(({ made }) => made)).to.have.length(changesIn(log.log.store));
  });

  function changesIn(state: StateReader): number {
    let count = 0;
    scanHistory(state, 1, log.log.revision, ({ changes }: RevisionChanges) => {
      count += changes.length;
      return true;
    });
    return count;
  }
});
