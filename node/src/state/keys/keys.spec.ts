import { expect } from "chai";
import { AppliedLog, putOf, refused, requestOf } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import {
  DEFAULT_STATE_LIMITS,
  generationMs,
  keyRow,
  type StateReader,
  type StoredKey,
  scanHistory,
  type WatchedChange,
} from "../core/index.ts";
import { extraRowsOf } from "../index.ts";
import type { CompareAndSwap, DeleteKey, PutKey, TouchKey } from "./key-commands.ts";
import { listKeyVersions } from "./key-versions.ts";
import { expiredKeys, getKey, listKeys, type PageBounds, readKey } from "./keys.ts";

const NAMESPACE = "default";
const KEY = bytesOf("k");
const ALL: PageBounds = { entriesMax: 1_000, bytesMax: 1_000_000, keysOnly: false };

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

const put = (changes: Partial<PutKey> = {}) => putOf(KEY, "v", { namespace: NAMESPACE, ...changes });

function remove(changes: Partial<DeleteKey> = {}): DeleteKey {
  const defaults = { namespace: NAMESPACE, key: KEY, expectedModRevision: undefined, returnPrevious: false };
  return { kind: "delete-key", ...defaults, ...changes };
}

function swap(changes: Partial<CompareAndSwap> = {}): CompareAndSwap {
  return {
    kind: "compare-and-swap",
    namespace: NAMESPACE,
    key: KEY,
    expectedValue: undefined,
    newValue: bytesOf("new"),
    expectedModRevision: undefined,
    ttlSeconds: 0,
    ...changes,
  };
}

function touch(changes: Partial<TouchKey> = {}): TouchKey {
  const defaults = { namespace: NAMESPACE, key: KEY, ttlSeconds: 5, expectedModRevision: undefined };
  return { kind: "touch-key", ...defaults, ...changes };
}

/** All changes that watchers can get. */
function history(log: AppliedLog): readonly WatchedChange[] {
  const all: WatchedChange[] = [];
  scanHistory(log.store, 0, log.revision, ({ changes }) => {
    all.push(...changes);
    return true;
  });
  return all;
}

function list(log: AppliedLog, prefix = "", bounds = ALL, after?: Uint8Array): { keys: string[]; more: boolean } {
  const page = listKeys(log.store, NAMESPACE, bytesOf(prefix), after, bounds);
  return { keys: page.keys.map(({ key }) => textOf(key)), more: page.more };
}

describe("putting a key", () => {
  it("creates it at the next revision, with version 1", () => {
    const log = new AppliedLog();
    const revision = log.revision + 1;
    expect(log.result(put())).to.deep.equal({
      kind: "put-key",
      modRevision: revision,
      created: true,
      previous: null,
      revision,
    });
    expect(getKey(log.store, NAMESPACE, KEY)).to.deep.equal({
      key: KEY,
      value: bytesOf("v"),
      createRevision: revision,
      modRevision: revision,
      version: 1,
      deadlineMs: 0,
    });
  });

  it("again keeps its creation and counts its version", () => {
    const log = new AppliedLog();
    const first = log.result(put());
    const second = log.result(put({ value: bytesOf("w"), returnPrevious: true }));
    expect([second.created, second.modRevision]).to.deep.equal([false, first.modRevision + 1]);
    expect(second.previous).to.include({ version: 1, modRevision: first.modRevision });
    expect(second.previous?.value).to.deep.equal(bytesOf("v"));
    const { createRevision, modRevision, version, value } = getKey(log.store, NAMESPACE, KEY);
    expect([createRevision, modRevision, version]).to.deep.equal([first.modRevision, second.modRevision, 2]);
    expect(value).to.deep.equal(bytesOf("w"));
  });

  it("after its deletion creates a new one", () => {
    const log = new AppliedLog();
    log.result(put());
    log.result(put());
    log.result(remove());
    const { modRevision, created, previous } = log.result(put({ returnPrevious: true }));
    expect([created, previous]).to.deep.equal([true, null]);
    expect(getKey(log.store, NAMESPACE, KEY)).to.include({ createRevision: modRevision, modRevision, version: 1 });
  });

  it("is a visible change, even with an equal value", () => {
    const log = new AppliedLog();
    expect(log.result(put()).revision + 1).to.equal(log.result(put()).revision);
  });

  it("S14: takes an empty value as a value", () => {
    const log = new AppliedLog();
    log.result(put({ value: new Uint8Array(0) }));
    expect(getKey(log.store, NAMESPACE, KEY).value.length).to.equal(0);
    expect(log.result(put()).created).to.equal(false);
  });

  it("S15: happens only at the expected mod revision, where 0 means that the key must not exist", () => {
    const log = new AppliedLog();
    const absent = log.refusal(put({ expectedModRevision: 7 }));
    expect([absent.code, absent.reason]).to.deep.equal(["FAILED_PRECONDITION", "REVISION_MISMATCH"]);
    expect(absent.message).to.include("7").and.include('"default/k"').and.include("does not exist");
    expect(absent.details).to.deep.equal(new Map([["mod_revision", "0"]]));
    const { modRevision } = log.result(put({ expectedModRevision: 0 }));
    const { revision } = log;
    for (const expectedModRevision of [0, modRevision - 1, modRevision + 1]) {
      const error = log.refusal(put({ expectedModRevision }));
      expect(error.reason).to.equal("REVISION_MISMATCH");
      expect(error.details).to.deep.equal(new Map([["mod_revision", String(modRevision)]]));
    }
    expect(log.revision, "refusals are no visible changes").to.equal(revision);
    log.result(put({ expectedModRevision: modRevision }));
  });

  it("S15: detects that the same value came back", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put());
    log.result(put({ value: bytesOf("other") }));
    log.result(put());
    expect(log.refusal(put({ expectedModRevision: modRevision })).reason).to.equal("REVISION_MISMATCH");
    expect(log.result(swap({ expectedValue: bytesOf("v") })).success, "a value alone does not").to.equal(true);
  });

  it("needs its namespace", () => {
    const log = new AppliedLog();
    for (const operation of [put({ namespace: "none" }), remove({ namespace: "none" }), swap({ namespace: "none" })]) {
      const error = log.refusal(operation);
      expect([error.code, error.reason]).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    }
  });
});

describe("deleting a key", () => {
  it("takes a revision, and returns the previous value on request", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put());
    const deleted = log.result(remove({ returnPrevious: true }));
    expect(deleted.revision).to.equal(modRevision + 1);
    expect(deleted.previous).to.include({ modRevision, version: 1 });
    expect(readKey(log.store, NAMESPACE, KEY)).to.equal(undefined);
    log.result(put());
    expect(log.result(remove()).previous).to.equal(null);
  });

  it("that does not exist is refused, whatever the expectation", async () => {
    const log = new AppliedLog();
    const { revision } = log;
    for (const expectedModRevision of [undefined, 0, 3]) {
      const error = log.refusal(remove({ expectedModRevision }));
      expect([error.code, error.reason]).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      expect(error.message).to.include('"default/k"');
    }
    expect(log.revision).to.equal(revision);
    expect((await refused(() => getKey(log.store, NAMESPACE, KEY))).reason).to.equal("KEY_NOT_FOUND");
    expect((await refused(() => getKey(log.store, "none", KEY))).reason).to.equal("NAMESPACE_NOT_FOUND");
  });

  it("happens only at the expected mod revision", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put());
    for (const expectedModRevision of [0, modRevision + 1]) {
      expect(log.refusal(remove({ expectedModRevision })).reason).to.equal("REVISION_MISMATCH");
    }
    log.result(remove({ expectedModRevision: modRevision }));
  });
});

describe("comparing and swapping", () => {
  const values = new Map([
    ["absent", undefined],
    ["empty", new Uint8Array(0)],
    ["a", bytesOf("a")],
    ["b", bytesOf("b")],
  ]);
  for (const current of ["absent", "empty", "a"]) {
    for (const [expectedName, expectedValue] of values) {
      for (const expectedRevision of ["any", "absent", "right", "wrong"] as const) {
        // By definition: no expectation means that the key must not exist, and several expectations must all hold.
        const isNone = expectedName === "absent" && expectedRevision === "any";
        const valueHolds = expectedName === "absent" || expectedName === current;
        const revisionHolds =
          expectedRevision === "any" || expectedRevision === (current === "absent" ? "absent" : "right");
        const success = isNone ? current === "absent" : valueHolds && revisionHolds;
        const expected = `value ${expectedName === "absent" ? "any" : expectedName}, revision ${expectedRevision}`;
        it(`S14, S15: of ${current} where ${expected} is expected ${success ? "succeeds" : "does not match"}`, () => {
          const log = new AppliedLog();
          const value = values.get(current);
          const modRevision = value === undefined ? 0 : log.result(put({ value })).modRevision;
          const right = modRevision === 0 ? 1_000 : modRevision;
          const expectedModRevision = { any: undefined, absent: 0, right, wrong: right + 1 }[expectedRevision];
          const { revision } = log;
          const result = log.result(swap({ expectedValue, expectedModRevision }));
          expect(result).to.deep.equal({
            kind: "compare-and-swap",
            success,
            currentExists: success || value !== undefined,
            currentValue: success ? bytesOf("new") : (value ?? new Uint8Array(0)),
            modRevision: success ? revision + 1 : modRevision,
            revision: success ? revision + 1 : revision,
          });
          expect(log.revision).to.equal(result.revision);
          expect(readKey(log.store, NAMESPACE, KEY)?.value).to.deep.equal(success ? bytesOf("new") : value);
        });
      }
    }
  }

  it("counts the version, and sets or removes the time to live, as a put does", () => {
    const log = new AppliedLog();
    log.result(swap({ ttlSeconds: 5 }));
    expect(getKey(log.store, NAMESPACE, KEY)).to.include({ version: 1, deadlineMs: log.tickMs + 5_000 });
    log.result(swap({ expectedValue: bytesOf("new") }));
    expect(getKey(log.store, NAMESPACE, KEY)).to.include({ version: 2, deadlineMs: 0 });
  });

  it("that does not match leaves the time to live alone", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 5 }));
    log.result(swap());
    expect(getKey(log.store, NAMESPACE, KEY)).to.include({ version: 1, deadlineMs: log.tickMs + 5_000 });
  });
});

describe("touching a key", () => {
  it("moves its deadline, and is no change: no revision, no version, nothing in the history", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put({ value: bytesOf("held"), ttlSeconds: 2 }));
    log.result(put({ key: bytesOf("other") }));
    const { revision } = log;
    const stored = getKey(log.store, NAMESPACE, KEY);
    const before = history(log);
    log.tickMs += 1_500;
    const deadlineMs = log.tickMs + 5_000;
    expect(log.result(touch())).to.deep.equal({ kind: "touch-key", modRevision, deadlineMs, revision });
    expect(getKey(log.store, NAMESPACE, KEY)).to.deep.equal({ ...stored, deadlineMs });
    expect(log.revision).to.equal(revision);
    expect(history(log)).to.deep.equal(before);
    const bounds = { ...ALL, entriesMax: 9 };
    expect(
      listKeyVersions(log.store, { namespace: NAMESPACE, key: KEY }, revision, null, bounds).versions,
    ).to.have.length(1);
    expect(log.result(put({ expectedModRevision: modRevision })).created, "what others expect stays true").to.equal(
      false,
    );
  });

  it("takes no room: the namespace has as many keys and bytes as before", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 2 }));
    // Without an answer to a request, nothing else is counted.
    const drop = () => {
      log.tickMs += DEFAULT_STATE_LIMITS.replayWindowMs * 2;
      log.lead({ kind: "drop-replays" });
      return log.progress;
    };
    const { dataBytes, totals, expiringKeys } = drop();
    log.result(touch());
    expect(drop()).to.deep.include({ dataBytes, totals, expiringKeys });
  });

  it("S22: spares it from an expiry that was proposed before, and from its former deadline", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put({ ttlSeconds: 1 }));
    log.tickMs += 1_001;
    const stale = { kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 100) } as const;
    expect(stale.keys).to.deep.equal([{ namespace: NAMESPACE, key: KEY, modRevision }]);
    log.result(touch({ ttlSeconds: 2 }));
    log.lead(stale);
    log.tickMs += 2_000;
    expect(expiredKeys(log.store, log.tickMs, 100)).to.deep.equal([]);
    log.lead(stale);
    expect(readKey(log.store, NAMESPACE, KEY)?.modRevision).to.equal(modRevision);
  });

  it("lets it expire later, with its last value for watchers", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put({ value: bytesOf("last"), ttlSeconds: 1 }));
    log.result(touch({ ttlSeconds: 3 }));
    log.tickMs += 3_001;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 100) });
    expect(readKey(log.store, NAMESPACE, KEY)).to.equal(undefined);
    expect(log.progress.expiringKeys).to.equal(0);
    const end = history(log).at(-1);
    expect(end?.kind).to.equal("expire");
    const { current, previous } = end as Extract<WatchedChange, { readonly about: "key" }>;
    expect([textOf(current.value), current.modRevision]).to.deep.equal(["last", log.revision]);
    expect(previous).to.include({ modRevision, version: 1 });
  });

  it("gives a permanent key a time to live, and with 0 takes it away", () => {
    const log = new AppliedLog();
    log.result(put());
    expect(log.result(touch({ ttlSeconds: 0 })).deadlineMs).to.equal(0);
    expect(log.progress.expiringKeys).to.equal(0);
    expect(log.result(touch({ ttlSeconds: 1 })).deadlineMs).to.equal(log.tickMs + 1_000);
    expect(log.progress.expiringKeys).to.equal(1);
    expect(log.result(touch({ ttlSeconds: 0 })).deadlineMs).to.equal(0);
    expect(log.progress.expiringKeys).to.equal(0);
    log.tickMs += 100_000;
    expect(expiredKeys(log.store, log.tickMs, 100)).to.deep.equal([]);
    expect(getKey(log.store, NAMESPACE, KEY).deadlineMs).to.equal(0);
  });

  it("counts in the share of its caller as the value that every member writes again", () => {
    const log = new AppliedLog();
    expect(extraRowsOf(log.store, touch())).to.equal(0);
    log.result(put({ value: new Uint8Array(256 * 1024) }));
    expect(extraRowsOf(log.store, touch())).to.equal(1_024);
  });

  it("needs its namespace, then the key, then the revision", () => {
    const log = new AppliedLog();
    const expectedModRevision = 77;
    expect(log.refusal(touch({ namespace: "none", expectedModRevision })).reason).to.equal("NAMESPACE_NOT_FOUND");
    expect(log.refusal(touch({ expectedModRevision })).reason).to.equal("KEY_NOT_FOUND");
    const { modRevision } = log.result(put({ ttlSeconds: 9 }));
    const stored = getKey(log.store, NAMESPACE, KEY);
    for (const wrong of [0, expectedModRevision]) {
      expect(log.refusal(touch({ expectedModRevision: wrong })).reason).to.equal("REVISION_MISMATCH");
    }
    expect(getKey(log.store, NAMESPACE, KEY)).to.deep.equal(stored);
    log.result(touch({ expectedModRevision: modRevision }));
    expect(log.result(touch({ expectedModRevision: modRevision })).modRevision, "as often as wanted").to.equal(
      modRevision,
    );
  });

  it("is executed once for each request id", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    const request = requestOf(1);
    const first = log.execute(touch(), { request });
    log.result(touch({ ttlSeconds: 60 }));
    const { deadlineMs } = getKey(log.store, NAMESPACE, KEY);
    expect(log.execute(touch(), { request })).to.deep.equal({ answer: first.answer, replayed: "yes" });
    expect(getKey(log.store, NAMESPACE, KEY).deadlineMs).to.equal(deadlineMs);
  });
});

describe("the time to live of a key", () => {
  function expire(log: AppliedLog): void {
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 100) });
  }

  it("S21: is never early: the key stays until the tick is above its deadline", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    for (const passedMs of [0, 999, 1_000]) {
      log.tickMs = 1_000 + passedMs;
      expect(expiredKeys(log.store, log.tickMs, 100), `after ${passedMs} ms`).to.deep.equal([]);
      // Also if a leader names it too soon.
      log.lead({ kind: "expire-keys", keys: [{ namespace: NAMESPACE, key: KEY, modRevision: log.revision }] });
      expect(readKey(log.store, NAMESPACE, KEY), `after ${passedMs} ms`).not.to.equal(undefined);
    }
    log.tickMs = 2_001;
    const { revision } = log;
    expire(log);
    expect(readKey(log.store, NAMESPACE, KEY)).to.equal(undefined);
    expect([log.revision, log.progress.expiringKeys]).to.deep.equal([revision + 1, 0]);
  });

  it("S21: leaves the key visible until the entry that expires it", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    log.tickMs += 10_000;
    log.lead({ kind: "tick" });
    expect(getKey(log.store, NAMESPACE, KEY).value).to.deep.equal(bytesOf("v"));
    expect(list(log).keys).to.deep.equal(["k"]);
    expect(log.result(put()).created).to.equal(false);
  });

  it("S20: does not run by the wall clock", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    log.wallMs += 3_600_000;
    expire(log);
    expect(readKey(log.store, NAMESPACE, KEY)).not.to.equal(undefined);
  });

  it("ends with a put without one", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    log.result(put());
    log.tickMs += 10_000;
    expire(log);
    expect(getKey(log.store, NAMESPACE, KEY).deadlineMs).to.equal(0);
    expect(log.progress.expiringKeys).to.equal(0);
    expect(log.dump().filter((row) => row.startsWith("x"))).to.deep.equal([]);
  });

  it("starts again with each put that has one", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 2 }));
    log.tickMs += 1_500;
    log.result(put({ ttlSeconds: 2 }));
    log.tickMs += 1_500;
    expire(log);
    expect(getKey(log.store, NAMESPACE, KEY).deadlineMs).to.equal(1_000 + 1_500 + 2_000);
    expect(log.progress.expiringKeys).to.equal(1);
  });

  it("S22: ends the named key, not one that has replaced it", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put({ ttlSeconds: 1 }));
    const stale = { kind: "expire-keys", keys: [{ namespace: NAMESPACE, key: KEY, modRevision }] } as const;
    log.tickMs += 10_000;
    log.result(put({ ttlSeconds: 1 }));
    log.tickMs += 10_000;
    log.lead(stale);
    expect(readKey(log.store, NAMESPACE, KEY), "renewed").not.to.equal(undefined);
    log.result(remove());
    const { revision } = log;
    log.lead(stale);
    expect(log.revision, "deleted").to.equal(revision);
  });

  it("S22: unknown names, and repeated names, do no harm", () => {
    const log = new AppliedLog();
    const { modRevision } = log.result(put({ ttlSeconds: 1 }));
    log.tickMs += 10_000;
    const named = { namespace: NAMESPACE, key: KEY, modRevision };
    log.lead({
      kind: "expire-keys",
      keys: [{ ...named, namespace: "none" }, { ...named, key: bytesOf("other") }, named, named],
    });
    expect([log.revision, log.progress.expiringKeys]).to.deep.equal([modRevision + 1, 0]);
  });

  it("ends with the key", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    log.result(remove());
    expect(log.progress.expiringKeys).to.equal(0);
    log.tickMs += 10_000;
    expect(expiredKeys(log.store, log.tickMs, 100)).to.deep.equal([]);
  });

  it("lists the due keys, the earliest deadline first, at most the requested number", () => {
    const log = new AppliedLog();
    log.result({ kind: "create-namespace", namespace: "a" });
    const due = [
      { namespace: NAMESPACE, key: "1\0", ttlSeconds: 3 },
      { namespace: "a", key: "2", ttlSeconds: 1 },
      { namespace: NAMESPACE, key: "\0", ttlSeconds: 2 },
      { namespace: NAMESPACE, key: "later", ttlSeconds: 100 },
    ].map(({ namespace, key: text, ttlSeconds }) => {
      const key = bytesOf(text);
      const { modRevision } = log.result(put({ namespace, key, ttlSeconds }));
      return { namespace, key, modRevision };
    });
    const [third, first, second] = due;
    expect(expiredKeys(log.store, 50_000, 100)).to.deep.equal([first, second, third]);
    expect(expiredKeys(log.store, 50_000, 2)).to.deep.equal([first, second]);
    expect(expiredKeys(log.store, 50_000, 0)).to.deep.equal([]);
  });

  it("S44: finds due keys without reading their values", () => {
    const log = new AppliedLog();
    log.result(put({ ttlSeconds: 1 }));
    const reader: StateReader = {
      get: () => expect.fail("reads a row"),
      scan: (from, to, visit) => log.store.scan(from, to, visit),
    };
    expect(expiredKeys(reader, 50_000, 100).length).to.equal(1);
  });
});

describe("listing keys", () => {
  function withKeys(keys: readonly string[], value = "v"): AppliedLog {
    const log = new AppliedLog();
    for (const key of keys) {
      log.result(put({ key: bytesOf(key), value: bytesOf(value) }));
    }
    return log;
  }

  it("S16: gives them in the order of their UTF-8 bytes: U+FFFF before U+1F600", () => {
    const ordered = ["\0", "A", "a", "a\0", "a\0b", "a\uFFFF", "a😀", "b", "\uFFFF", "😀", "\u{10FFFF}"];
    expect(list(withKeys([...ordered].reverse()))).to.deep.equal({ keys: ordered, more: false });
  });

  it("returns the keys with the prefix, which may end within a character's bytes", () => {
    const log = withKeys(["a", "a/1", "a/2", "a0", "b", "é", "ê"]);
    expect(list(log, "a/").keys).to.deep.equal(["a/1", "a/2"]);
    expect(list(log, "a").keys).to.deep.equal(["a", "a/1", "a/2", "a0"]);
    expect(list(log, "c").keys).to.deep.equal([]);
    const half = listKeys(log.store, NAMESPACE, Uint8Array.of(0xc3), undefined, ALL);
    expect(half.keys.map(({ key }) => textOf(key))).to.deep.equal(["é", "ê"]);
  });

  it("S16: bounds prefixes of the highest bytes", () => {
    const log = withKeys(["\u{10FFFE}", "\u{10FFFF}", "\u{10FFFF}x"]);
    expect(list(log, "\u{10FFFF}").keys).to.deep.equal(["\u{10FFFF}", "\u{10FFFF}x"]);
    expect(listKeys(log.store, NAMESPACE, Uint8Array.of(0xff, 0xff), undefined, ALL).keys).to.deep.equal([]);
  });

  it("S19: keeps namespaces apart, whatever their names", () => {
    const log = new AppliedLog();
    for (const namespace of ["__proto__", "constructor", "defaul", "default2"]) {
      log.result({ kind: "create-namespace", namespace });
      for (const key of ["__proto__", "constructor", "toString"]) {
        log.result(put({ namespace, key: bytesOf(key), value: bytesOf(namespace) }));
      }
    }
    expect(list(log).keys).to.deep.equal([]);
    for (const namespace of ["__proto__", "constructor"]) {
      const { keys } = listKeys(log.store, namespace, new Uint8Array(0), undefined, ALL);
      expect(keys.map(({ key }) => textOf(key))).to.deep.equal(["__proto__", "constructor", "toString"]);
      expect(keys.every(({ value }) => textOf(value) === namespace)).to.equal(true);
      expect(textOf(getKey(log.store, namespace, bytesOf("__proto__")).value)).to.equal(namespace);
    }
  });

  it("needs its namespace", async () => {
    const error = await refused(() => listKeys(new AppliedLog().store, "none", KEY, undefined, ALL));
    expect(error.reason).to.equal("NAMESPACE_NOT_FOUND");
  });

  it("continues after a key, page by page, to the end", () => {
    const all = ["a", "a\0", "a\0\0", "ab", "b", "c"];
    const log = withKeys(all);
    for (let entriesMax = 1; entriesMax <= 7; entriesMax++) {
      const keys: string[] = [];
      let after: Uint8Array | undefined;
      for (let more = true; more; ) {
        const page = listKeys(log.store, NAMESPACE, new Uint8Array(0), after, { ...ALL, entriesMax });
        expect(page.keys.length).to.be.within(1, entriesMax);
        keys.push(...page.keys.map(({ key }) => textOf(key)));
        expect(keys.length, "ends").to.be.at.most(all.length);
        after = page.keys.at(-1)?.key;
        more = page.more;
      }
      expect(keys, `${entriesMax} a page`).to.deep.equal(all);
    }
  });

  it("continues after a deleted key", () => {
    const log = withKeys(["a", "c"]);
    expect(list(log, "", ALL, bytesOf("b")).keys).to.deep.equal(["c"]);
    expect(list(log, "", ALL, bytesOf("c")).keys).to.deep.equal([]);
  });

  it("reports that more follow only if they do", () => {
    const log = withKeys(["a/1", "a/2", "b"]);
    expect(list(log, "a/", { ...ALL, entriesMax: 2 })).to.deep.equal({ keys: ["a/1", "a/2"], more: false });
    expect(list(log, "a/", { ...ALL, entriesMax: 1 })).to.deep.equal({ keys: ["a/1"], more: true });
  });

  it("keeps pages within their bytes of keys and values, but always returns one entry", () => {
    const log = withKeys(["a", "b", "c"], "123456789");
    expect(list(log, "", { ...ALL, bytesMax: 20 }).keys).to.deep.equal(["a", "b"]);
    expect(list(log, "", { ...ALL, bytesMax: 19 }).keys).to.deep.equal(["a"]);
    expect(list(log, "", { ...ALL, bytesMax: 0 })).to.deep.equal({ keys: ["a"], more: true });
  });

  it("of keys alone leaves out values and their bytes", () => {
    const log = withKeys(["a", "b", "c"], "123456789");
    const page = listKeys(log.store, NAMESPACE, new Uint8Array(0), undefined, { ...ALL, bytesMax: 2, keysOnly: true });
    expect(page.keys.map(({ key, value, version }) => [textOf(key), value.length, version])).to.deep.equal([
      ["a", 0, 1],
      ["b", 0, 1],
    ]);
    expect(page.more).to.equal(true);
  });

  it("S44: of keys alone reads a bounded amount where values are large", () => {
    const log = new AppliedLog();
    const value = new Uint8Array(1024 * 1024);
    for (let at = 0; at < 20; at++) {
      log.result(put({ key: bytesOf(`k${String(at).padStart(2, "0")}`), value }));
    }
    let read = 0;
    const reader: StateReader = {
      get: (key) => log.store.get(key),
      scan: (from, to, visit) => {
        log.store.scan(from, to, (row) => {
          read += row.value.length;
          return visit(row);
        });
      },
    };
    const keys: string[] = [];
    let after: Uint8Array | undefined;
    for (let more = true; more; ) {
      read = 0;
      const page = listKeys(reader, NAMESPACE, new Uint8Array(0), after, { ...ALL, keysOnly: true });
      expect(read).to.be.below(10 * value.length);
      keys.push(...page.keys.map(({ key }) => textOf(key)));
      expect(keys.length, "ends").to.be.at.most(20);
      after = page.keys.at(-1)?.key;
      more = page.more;
    }
    expect(keys.length).to.equal(20);
    expect(new Set(keys).size).to.equal(20);
  });
});

describe("the quota", () => {
  /** A cluster with this many free bytes; the answer of the first command that fits uses the rest. */
  function withRoom(bytes: number): AppliedLog {
    const { dataBytes } = new AppliedLog().progress;
    return new AppliedLog({ ...DEFAULT_STATE_LIMITS, dataBytesMax: dataBytes + bytes });
  }

  it("refuses growth beyond it, to the byte, and changes nothing then", () => {
    const log = withRoom(10);
    const error = log.refusal(put({ value: new Uint8Array(10) }));
    expect([error.code, error.reason]).to.deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
    expect(readKey(log.store, NAMESPACE, KEY)).to.equal(undefined);
    const other = withRoom(10);
    other.result(put({ value: new Uint8Array(9) }));
    expect(other.refusal(put({ key: bytesOf("l"), value: new Uint8Array(0) })).reason).to.equal("QUOTA");
    expect(other.refusal(swap({ key: bytesOf("l"), newValue: new Uint8Array(0) })).reason).to.equal("QUOTA");
  });

  it("lets a full cluster shrink: smaller values, deletions, expiry", () => {
    const log = withRoom(30);
    log.result(put({ value: new Uint8Array(28), ttlSeconds: 1 }));
    expect(log.refusal(put({ value: new Uint8Array(29) })).reason).to.equal("QUOTA");
    log.result(put({ value: new Uint8Array(28), ttlSeconds: 1 }));
    log.result(put({ value: new Uint8Array(5), ttlSeconds: 1 }));
    log.result(remove());
    const expiring = withRoom(30);
    const { modRevision } = expiring.result(put({ value: new Uint8Array(28), ttlSeconds: 1 }));
    expiring.tickMs += 2_000;
    expiring.lead({ kind: "expire-keys", keys: [{ namespace: NAMESPACE, key: KEY, modRevision }] });
    expect(readKey(expiring.store, NAMESPACE, KEY)).to.equal(undefined);
  });

  it("counts stored answers, until they are dropped", () => {
    const log = withRoom(1_000);
    log.result(put());
    const withAnswer = log.progress.dataBytes;
    const { replayWindowMs } = DEFAULT_STATE_LIMITS;
    log.tickMs += replayWindowMs + generationMs(replayWindowMs);
    log.lead({ kind: "drop-replays" });
    expect(log.progress.dataBytes).to.be.below(withAnswer);
    expect(log.progress.dataBytes).to.equal(KEY.length + 1);
  });
});

describe("the row of a key", () => {
  it("has these bytes, and another for its deadline", () => {
    const log = new AppliedLog();
    log.result(put({ value: Uint8Array.of(1, 2), ttlSeconds: 1 }));
    const rows = log.dump().filter((row) => /^[dx]/.test(row));
    expect(rows).to.deep.equal([
      `ddefault\0k = ${"0000000000000002".repeat(2)}000000000000000100000000000007d0000000020102`,
      `x\0\0\0\0\0\0\x07\xd0default\0k = 0000000000000002`,
    ]);
  });

  it("is refused after every truncation, and with a byte more", () => {
    const log = new AppliedLog();
    log.result(put());
    const key = keyRow(NAMESPACE, KEY);
    const row = log.store.get(key) as Uint8Array;
    const read = (value: Uint8Array): StoredKey => {
      log.store.write([{ key, value }]);
      return getKey(log.store, NAMESPACE, KEY);
    };
    for (let length = 0; length < row.length; length++) {
      expect(() => read(row.subarray(0, length))).to.throw(InvariantViolation);
    }
    expect(() => read(Uint8Array.of(...row, 0))).to.throw(InvariantViolation);
    expect(read(row).value).to.deep.equal(bytesOf("v"));
  });
});
