import { expect } from "chai";
import { ANNA, AppliedLock, AppliedLog, acquireLock, BEN, createLock, NAMED, OWNER } from "../../../test/index.ts";
import { CoordinationError } from "../core/index.ts";
import { type LockPage, type LockSelection, listLocks, listLockWaits } from "./lock-listing.ts";

const ALL: LockSelection = {
  namespace: "default",
  prefix: "",
  inUseOnly: false,
  waitsMax: 100,
  namesOnly: false,
  entriesMax: 1_000,
  bytesMax: 1_000_000,
};

/** Every page, from the first to the last. */
function pagesOf(log: AppliedLog, selection: Partial<LockSelection> = {}): LockPage[] {
  const pages: LockPage[] = [];
  let after: Uint8Array | null = null;
  do {
    const page: LockPage = listLocks(log.store, { ...ALL, ...selection }, after);
    pages.push(page);
    after = page.next;
  } while (after !== null);
  return pages;
}

/** The names of the locks on each page; read-write locks have a star. */
function namesOf(pages: readonly LockPage[]): string[][] {
  return pages.map(({ locks }) => locks.map(({ lock }) => `${lock.name}${lock.rw ? "*" : ""}`));
}

describe("a listing of locks", () => {
  it("has exclusive locks, then read-write locks, each in the order of the bytes of their names", () => {
    const log = new AppliedLog();
    for (const name of ["b", "a\0", "é", "a", "z"]) {
      log.result<"create-lock">(createLock({ name }));
    }
    for (const name of ["b", "A"]) {
      log.result<"create-lock">(createLock({ name, rw: true }));
    }
    expect(namesOf(pagesOf(log))).to.deep.equal([["a", "a\0", "b", "z", "é", "A*", "b*"]]);
    const one = [["a"], ["a\0"], ["b"], ["z"], ["é"], ["A*"], ["b*"]];
    expect(namesOf(pagesOf(log, { entriesMax: 1 })), "no lock twice, and none left out").to.deep.equal(one);
    expect(namesOf(pagesOf(log, { prefix: "a", entriesMax: 2 }))).to.deep.equal([["a", "a\0"]]);
    expect(namesOf(pagesOf(log, { prefix: "b", entriesMax: 1 }))).to.deep.equal([["b"], ["b*"]]);
    expect(namesOf(pagesOf(log, { prefix: "x" }))).to.deep.equal([[]]);
  });

  it("has only the locks of its namespace, which must exist", () => {
    const log = new AppliedLog();
    log.result<"create-namespace">({ kind: "create-namespace", namespace: "default2" });
    log.result<"create-lock">(createLock({ namespace: "default2", name: "other" }));
    log.result<"create-lock">(createLock({ name: "mine" }));
    expect(namesOf(pagesOf(log))).to.deep.equal([["mine"]]);
    expect(() => listLocks(log.store, { ...ALL, namespace: "none" }, null))
      .to.throw(CoordinationError)
      .with.property("reason", "NAMESPACE_NOT_FOUND");
  });

  it("has the holder of a lock and the first waits in the order in which they are served", () => {
    const locks = new AppliedLock();
    locks.ask({ owner: "first", ttlSeconds: 20 });
    locks.ask({ owner: "second", waitMs: 5_000 }, { principal: ANNA });
    locks.log.tickMs += 300;
    locks.ask({ owner: "third", waitMs: 9_000, ttlSeconds: 7 }, { principal: BEN });
    locks.ask({ owner: "fourth", waitMs: 9_000 }, { principal: BEN });
    const [page] = pagesOf(locks.log, { waitsMax: 2 });
    const [listed] = page?.locks ?? [];
    expect(listed?.state).to.equal("held");
    expect(listed?.lock.waitingWriters).to.equal(3);
    expect(listed?.holds.map(({ owner, subject }) => [owner, subject])).to.deep.equal([["first", OWNER.subject]]);
    const waits = listed?.waits.map(({ owner, principal, mode, ttlSeconds, askedMs, deadlineMs }) => [
      ...[owner, principal.subject, mode, ttlSeconds],
      ...[locks.log.tickMs - askedMs, deadlineMs - locks.log.tickMs],
    ]);
    expect(waits).to.deep.equal([
      ["second", ANNA.subject, "exclusive", 30, 300, 4_700],
      ["third", BEN.subject, "exclusive", 7, 0, 9_000],
    ]);
    const all = listLockWaits(locks.log.store, { ...NAMED, rw: false }).map(({ owner }) => owner);
    expect(all).to.deep.equal(["second", "third", "fourth"]);
  });

  it("has the first ten readers of a read-write lock, readers and writers that wait, and no waits unless asked", () => {
    const locks = new AppliedLock({ rw: true });
    for (let reader = 0; reader < 12; reader++) {
      locks.ask({ mode: "read", owner: `r${reader}` });
    }
    locks.ask({ mode: "write", owner: "w", waitMs: 1_000 });
    locks.ask({ mode: "read", owner: "late", waitMs: 1_000 });
    const [listed] = pagesOf(locks.log)[0]?.locks ?? [];
    expect(listed?.state).to.equal("read-held");
    expect([listed?.lock.readers, listed?.lock.waitingReaders, listed?.lock.waitingWriters]).to.deep.equal([12, 1, 1]);
    expect(listed?.holds.map(({ owner }) => owner)).to.deep.equal(Array.from({ length: 10 }, (_, at) => `r${at}`));
    expect(listed?.waits.map(({ owner, mode }) => [owner, mode])).to.deep.equal([
      ["w", "write"],
      ["late", "read"],
    ]);
    expect(pagesOf(locks.log, { waitsMax: 0 })[0]?.locks[0]?.waits).to.deep.equal([]);
    const [named] = pagesOf(locks.log, { namesOnly: true })[0]?.locks ?? [];
    expect([named?.holds, named?.waits]).to.deep.equal([[], []]);
  });

  it("leaves out free locks if asked, but not those whose delay has not passed", () => {
    const locks = new AppliedLock({ lockDelaySeconds: 5 });
    for (const name of ["a", "b", "x"]) {
      locks.log.result<"create-lock">(createLock({ name }));
    }
    locks.log.result<"acquire-lock">(acquireLock({ name: "x" }));
    locks.ask({});
    locks.force();
    expect(locks.view.state).to.equal("cooldown");
    expect(namesOf(pagesOf(locks.log, { inUseOnly: true }))).to.deep.equal([["l", "x"]]);
    expect(namesOf(pagesOf(locks.log, { inUseOnly: true, entriesMax: 1 })).flat()).to.deep.equal(["l", "x"]);
  });

  it("S44: ends a page after a bounded number of rows, holders and scans, and leaves out no lock", () => {
    const log = new AppliedLog();
    const names = Array.from({ length: 2_300 }, (_, at) => `l${String(at).padStart(4, "0")}`);
    for (const name of names) {
      log.result<"create-lock">(createLock({ name }));
    }
    const free = pagesOf(log, { entriesMax: 1_000_000, bytesMax: 1_000_000_000 });
    expect(free.map(({ locks }) => locks.length)).to.deep.equal([500, 500, 500, 500, 300]);
    const inUse = pagesOf(log, { inUseOnly: true });
    expect(
      inUse.map(({ locks }) => locks.length),
      "an empty page may have a next one",
    ).to.deep.equal([0, 0, 0, 0, 0]);
    for (const name of names.slice(0, 600)) {
      log.result<"acquire-lock">(acquireLock({ name }));
    }
    const held = pagesOf(log, { inUseOnly: true });
    expect(held.map(({ locks }) => locks.length)).to.deep.equal([100, 100, 100, 100, 100, 100, 0, 0, 0]);
    for (const name of names.slice(0, 150)) {
      log.execute(acquireLock({ name, waitMs: 1_000 }));
    }
    const awaited = pagesOf(log, { inUseOnly: true });
    expect(awaited.map(({ locks }) => locks.length)).to.deep.equal([
      25, 25, 25, 25, 25, 100, 100, 100, 100, 75, 0, 0, 0,
    ]);
    expect(namesOf(awaited).flat()).to.deep.equal(names.slice(0, 600));
    expect(namesOf(pagesOf(log, { inUseOnly: true, namesOnly: true })).flat()).to.deep.equal(names.slice(0, 600));
  });

  it("ends a page at its limit of bytes, with at least one lock", () => {
    const locks = new AppliedLock();
    locks.log.result<"create-lock">(createLock({ name: "m" }));
    locks.ask({ owner: "o".repeat(256) });
    expect(namesOf(pagesOf(locks.log, { bytesMax: 1 }))).to.deep.equal([["l"], ["m"]]);
    expect(namesOf(pagesOf(locks.log, { bytesMax: 1_000 }))).to.deep.equal([["l", "m"]]);
  });
});

describe("a list of waits", () => {
  it("needs a lock that exists", () => {
    const { store } = new AppliedLog();
    const reasons = [NAMED, { ...NAMED, namespace: "none" }].map((named) => {
      try {
        listLockWaits(store, { ...named, rw: false });
        return "none";
      } catch (error) {
        return error instanceof CoordinationError ? error.reason : error;
      }
    });
    expect(reasons).to.deep.equal(["LOCK_NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
  });
});
