import { expect } from "chai";
import {
  AppliedEventLog,
  AppliedLog,
  applyRows,
  createApiKey,
  createUser,
  dumpOf,
  expectExactUsage,
  MemoryStateStore,
  machineOver,
  NO_SETTINGS,
  requestOf,
  TOKEN_SHA256,
} from "../../../test/index.ts";
import type { ClientOperation } from "../index.ts";
import { expiredKeys, type PutKey } from "../keys/index.ts";
import type { AcquireLock } from "../locks/index.ts";
import { CoordinationError } from "./coordination-error.ts";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";
import { readNamespaceUsage, scanNamespaceUsage } from "./namespace-accounts.ts";
import { QUOTA_MAX, unsetLimits } from "./quotas.ts";
import { namespaceLimitsOf, readSettings } from "./settings.ts";

const NAMESPACE = "team.a";
const UNSET = unsetLimits(DEFAULT_STATE_LIMITS);

function put(key: string, value = "", ttlSeconds = 0, namespace = NAMESPACE): PutKey {
  return {
    kind: "put-key" as const,
    namespace,
    key: Buffer.from(key),
    value: Buffer.from(value),
    ttlSeconds,
    expectedModRevision: undefined,
    returnPrevious: false,
  };
}

function remove(key: string) {
  const rest = { expectedModRevision: undefined, returnPrevious: false };
  return { kind: "delete-key", namespace: NAMESPACE, key: Buffer.from(key), ...rest } as const;
}

function createLock(name: string, rw = false) {
  return { kind: "create-lock", namespace: NAMESPACE, rw, name, ttlSeconds: 30, lockDelaySeconds: 0 } as const;
}

function acquire(name: string, owner: string, waitMs = 0): AcquireLock {
  const fixed = { kind: "acquire-lock", namespace: NAMESPACE, rw: false, mode: "exclusive" } as const;
  return { ...fixed, name, ttlSeconds: 30, owner, waitMs, fencingToken: 0 };
}

function allocate(sizeBytes = 1) {
  return { kind: "allocate-memory", namespace: NAMESPACE, sizeBytes, label: "" } as const;
}

function free(regionId: Uint8Array) {
  return { kind: "free-memory", namespace: NAMESPACE, regionId, expectedVersion: undefined } as const;
}

/** Exact after every entry, and not in the way of a retry (S49). */
describe("quotas", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
    log.result({ kind: "create-namespace", namespace: NAMESPACE });
  });

  afterEach(() => expectExactUsage(log.store));

  function set(values: Readonly<Record<string, string>>): unknown {
    const pairs = Object.entries(values).map(([name, value]) => ({ name, value }));
    const put = { kind: "put-settings", values: pairs, ifRevision: 0, subject: "admin", request: null } as const;
    return log.lead(put)?.answer;
  }

  function limit(quota: string, value: number): void {
    expect(set({ [`quota.namespace.${NAMESPACE}.${quota}`]: String(value) })).include({ kind: "put-settings" });
  }

  /** The operation is refused for this quota; the refusal names the quota, its namespace, its limit and the usage. */
  function expectFull(operation: ClientOperation, quota: string, max: number, used: number): void {
    const { code, reason, details, message } = log.refusal(operation);
    expect([code, reason]).deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
    expect(Object.fromEntries(details)).deep.equal({
      quota: `quota.namespace.${quota}`,
      namespace: NAMESPACE,
      limit: String(max),
      used: String(used),
    });
    expect(message).include(`namespace "${NAMESPACE}" has ${used} of at most ${max} `);
    expect(message).include(`quota.namespace.${NAMESPACE}.${quota}`);
  }

  describe("of keys", () => {
    it("refuse one more, but not a change of an existing one; a deletion frees space", () => {
      limit("keys", 2);
      log.result(put("a"));
      log.result(put("b"));
      expectFull(put("c"), "keys", 2, 2);
      log.result(put("b", "changed"));
      log.result(remove("a"));
      log.result(put("c"));
      expectFull(put("a"), "keys", 2, 2);
    });

    it("refuse a compare-and-swap that would create one", () => {
      limit("keys", 0);
      const swap = {
        kind: "compare-and-swap" as const,
        namespace: NAMESPACE,
        key: Buffer.from("k"),
        expectedValue: undefined,
        newValue: Buffer.from("v"),
        expectedModRevision: undefined,
        ttlSeconds: 0,
      };
      expectFull(swap, "keys", 0, 0);
    });

    it("have space again when a key has expired", () => {
      limit("keys", 1);
      log.result(put("a", "", 1));
      log.tickMs += 1_001;
      expectFull(put("b"), "keys", 1, 1);
      log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 10) });
      log.result(put("b"));
    });

    it("count for each namespace separately", () => {
      limit("keys", 1);
      log.result(put("a"));
      log.result({ kind: "create-namespace", namespace: "team" });
      log.result(put("a", "", 0, "team"));
      log.result(put("b", "", 0, "team"));
      expectFull(put("b"), "keys", 1, 1);
    });
  });

  describe("of bytes", () => {
    it("refuse growth beyond them, to the byte, and never a change that shrinks or ends something", () => {
      limit("bytes", 10);
      log.result(put("k", "123456789"));
      expectFull(put("k", "1234567890"), "bytes", 10, 10);
      expectFull(put("l"), "bytes", 10, 10);
      limit("bytes", 5);
      log.result(put("k", "12345678"));
      expectFull(put("k", "123456789"), "bytes", 5, 9);
      log.result(remove("k"));
      log.result(put("k", "1234"));
    });

    it("count locks, holds and waits, and the descriptions of regions", () => {
      const of = () => readNamespaceUsage(log.store, NAMESPACE).bytes;
      log.result(createLock("l"));
      const lock = of();
      expect(lock).above(0);
      log.execute(acquire("l", "a"));
      const held = of();
      expect(held).above(lock);
      limit("bytes", held + 10);
      expectFull(acquire("l", "b", 1_000), "bytes", held + 10, held);
      limit("bytes", held + 1_000);
      log.execute(acquire("l", "b", 1_000));
      expect(of()).above(held);
      limit("bytes", 0);
      const release = { kind: "release-lock", namespace: NAMESPACE, rw: false, name: "l", mode: null } as const;
      log.result({ ...release, owner: "a", fencingToken: 0 });
      expect(of(), "the waiter has the hold now").equal(held);
      log.result({ ...release, owner: "b", fencingToken: 0 });
      expect(of()).equal(lock);
      limit("bytes", lock + 30);
      expectFull(allocate(), "bytes", lock + 30, lock);
    });
  });

  it("of locks count both kinds together", () => {
    limit("locks", 2);
    log.result(createLock("l"));
    log.result(createLock("l", true));
    expectFull(createLock("m"), "locks", 2, 2);
    expectFull(createLock("m", true), "locks", 2, 2);
    limit("locks", 3);
    log.result(createLock("m"));
  });

  it("of memory regions have space again when one is freed, though its pages are not erased yet", () => {
    limit("memory_regions", 1);
    const { regionId } = log.result(allocate());
    expectFull(allocate(), "memory_regions", 1, 1);
    log.result(free(regionId));
    log.result(allocate());
  });

  it("of bytes of memory have the old limit of memory as their default, and can be changed", () => {
    expect(UNSET.memory_bytes).equal(DEFAULT_STATE_LIMITS.memoryNamespaceBytesMax);
    limit("memory_bytes", 10);
    const { regionId } = log.result(allocate(6));
    expectFull(allocate(5), "memory_bytes", 10, 6);
    const resize = { ...free(regionId), kind: "resize-memory" } as const;
    expectFull({ ...resize, sizeBytes: 11 }, "memory_bytes", 10, 6);
    log.result({ ...resize, sizeBytes: 10 });
    log.result(free(regionId));
    log.result(allocate(10));
  });

  it("of event logs have space again when one is deleted, and leave the other namespaces alone", () => {
    limit("event_logs", 1);
    const create = (name: string, namespace = NAMESPACE) => {
      return { kind: "create-log", name, namespace, settings: NO_SETTINGS } as const;
    };
    const { logId } = log.result(create("one")).log;
    const { reason, details } = log.refusal(create("two"));
    expect([reason, details.get("quota"), details.get("used")]).deep.equal([
      "QUOTA",
      "quota.namespace.event_logs",
      "1",
    ]);
    log.result(create("elsewhere", "default"));
    log.result({ kind: "delete-log", logId });
    log.result(create("two"));
    expect(log.refusal(create("three")).reason).equal("QUOTA");
  });

  describe("of bytes of events", () => {
    const used = () => readNamespaceUsage(log.store, NAMESPACE).event_bytes;
    const settings = { retentionMaxAgeSecs: 10, duplicateWindowSecs: 20 };

    it("refuse appends that would exceed them, but not a retry of a stored append; time frees space", () => {
      const events = new AppliedEventLog(settings, { log, namespace: NAMESPACE });
      events.append("0123456789", { idempotencyKey: "a" });
      const first = used();
      expect(first).above(10);
      limit("event_bytes", first + 9);
      const { details } = log.refusal(events.operation(["0123456789"], { idempotencyKey: "b" }));
      expect(Object.fromEntries(details)).deep.equal({
        quota: "quota.namespace.event_bytes",
        namespace: NAMESPACE,
        limit: String(first + 9),
        used: String(first),
      });
      expect(events.append("0123456789", { idempotencyKey: "a" })).equal("again 1");
      log.tickMs += 10_001;
      log.lead({ kind: "apply-retention", rowsMax: 10 });
      expect(used(), "its key is remembered").within(1, first - 10);
      expect(events.append("0123456789")).equal("2");
      log.tickMs += 10_001;
      log.lead({ kind: "prune-duplicates", countMax: 10 });
      log.lead({ kind: "apply-retention", rowsMax: 10 });
      expect(used()).equal(0);
    });

    it("have space again as a deleted log is erased, step by step, whatever expires meanwhile", () => {
      const events = new AppliedEventLog(settings, { log, namespace: NAMESPACE });
      for (const key of ["a", "b", "c", "d"]) {
        events.append("0123456789", { idempotencyKey: key });
      }
      const all = used();
      log.result({ kind: "delete-log", logId: events.logId });
      expect(used()).equal(all);
      log.lead({ kind: "erase-logs", rowsMax: 2 });
      const left = used();
      expect(left).within(1, all - 1);
      log.tickMs += 20_001;
      log.lead({ kind: "prune-duplicates", countMax: 2 });
      expect(used()).below(left);
      expectExactUsage(log.store);
      log.lead({ kind: "erase-logs", rowsMax: 100 });
      expect(used()).equal(0);
    });
  });

  describe("of API keys by user", () => {
    beforeEach(() => {
      log.ask(createUser("ada", { role: "member" }));
      log.lead({ kind: "verify-user", userId: "ada", tokenSha256: TOKEN_SHA256, passwordHash: "" });
    });

    it("count those that are neither revoked nor expired, and keep the others", () => {
      const ada = { subject: "ada", apiKeyId: "" };
      set({ "quota.user.api_keys": "2" });
      log.result(createApiKey("k1"), { principal: ada });
      log.result(createApiKey("k2", 1_000), { principal: ada });
      const refusal = log.refusal(createApiKey("k3"), { principal: ada });
      expect([refusal.code, refusal.reason]).deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
      expect(Object.fromEntries(refusal.details)).deep.equal({
        quota: "quota.user.api_keys",
        user: "ada",
        limit: "2",
        used: "2",
      });
      log.result(createApiKey("k4"));
      log.wallMs += 1_000;
      log.result(createApiKey("k3"), { principal: ada });
      expect(log.refusal(createApiKey("k5"), { principal: ada }).reason).equal("QUOTA");
      log.result({ kind: "revoke-api-key", apiKeyId: "k1" }, { principal: ada });
      log.result(createApiKey("k5"), { principal: ada });
      set({ "quota.user.api_keys": "0" });
      log.result({ kind: "revoke-api-key", apiKeyId: "k5" }, { principal: ada });
      expect(log.refusal(createApiKey("k6"), { principal: ada }).details.get("used")).equal("1");
    });
  });

  describe("as settings", () => {
    const limitsOf = (namespace: string) => namespaceLimitsOf(log.store, namespace, UNSET);
    const field = (values: Readonly<Record<string, string>>) => {
      const answer = set(values);
      return answer instanceof CoordinationError ? answer.details.get("field") : "none";
    };

    it("apply to all namespaces, or to the named one", () => {
      expect(limitsOf(NAMESPACE)).deep.equal(UNSET);
      set({ "quota.namespace.keys": "7", "quota.namespace.team.a.locks": "3" });
      expect(limitsOf(NAMESPACE)).deep.equal({ ...UNSET, keys: 7, locks: 3 });
      expect(limitsOf("team")).deep.equal({ ...UNSET, keys: 7 });
      set({ "quota.namespace.team.a.keys": "9", "quota.namespace.team.a.locks": "" });
      expect(limitsOf(NAMESPACE)).deep.equal({ ...UNSET, keys: 9 });
    });

    it("distinguish a quota of all namespaces from one of a namespace with the same name", () => {
      set({ "quota.namespace.keys": "1", "quota.namespace.keys.keys": "2", "quota.namespace.keys.locks.keys": "3" });
      expect(["a", "keys", "keys.locks"].map((namespace) => limitsOf(namespace).keys)).deep.equal([1, 2, 3]);
    });

    it("count as changes, and leave no row of a namespace after a return to the defaults", () => {
      const rows = () => log.dump().filter((row) => row.startsWith("Q"));
      set({ "quota.namespace.a.keys": "1", "quota.namespace.a.locks": "1" });
      expect([readSettings(log.store).revision, rows().length]).deep.equal([1, 2]);
      set({ "quota.namespace.a.keys": "1" });
      expect(readSettings(log.store).revision).equal(1);
      set({ "quota.namespace.a.keys": "", "quota.namespace.a.locks": "" });
      expect(readSettings(log.store).revision).equal(2);
      expect(rows()).deep.equal([`Q = ${"0".repeat(16)}`]);
    });

    it("are refused by their names, and then nothing changes", () => {
      for (const name of [
        "quota.namespace",
        "quota.namespace.cows",
        "quota.namespace.a.cows",
        "quota.namespace..keys",
        "quota.namespace.A.keys",
        "quota.namespace.-a.keys",
        `quota.namespace.${"a".repeat(64)}.keys`,
        "quota.user.keys",
        "quota.user.ada.api_keys",
      ]) {
        expect(field({ "quota.namespace.a.locks": "1", [name]: "1" }), name).equal(`values[${name.slice(0, 64)}]`);
      }
      for (const value of ["-1", "1.5", "many", "01", String(QUOTA_MAX + 1)]) {
        expect(field({ "quota.namespace.a.keys": value }), value).equal("values[quota.namespace.a.keys]");
        expect(field({ "quota.namespace.keys": value }), value).equal("values[quota.namespace.keys]");
      }
      expect(field({ "quota.user.api_keys": "1001" })).equal("values[quota.user.api_keys]");
      expect(readSettings(log.store).revision).equal(0);
      expect(log.dump().filter((row) => row.startsWith("Q"))).deep.equal([]);
      expect(field({ "quota.namespace.a.keys": String(QUOTA_MAX), "quota.namespace.b.keys": "0" })).equal("none");
    });

    it("are at most ten thousand for single namespaces", () => {
      for (let from = 0; from < 10_000; from += 1_000) {
        const names = Array.from({ length: 1_000 }, (_, at) => [`quota.namespace.n${from + at}.keys`, "5"]);
        expect(set(Object.fromEntries(names))).include({ kind: "put-settings" });
      }
      const refusal = set({ "quota.namespace.n1.keys": "6", "quota.namespace.n1.locks": "1" }) as CoordinationError;
      expect([refusal.reason, refusal.details.get("limit")]).deep.equal(["QUOTA", "10000"]);
      expect(limitsOf("n1").keys).equal(5);
      expect(set({ "quota.namespace.n1.keys": "", "quota.namespace.n1.locks": "1" })).include({ kind: "put-settings" });
    });
  });

  it("P44: decide equally in any slices, after a restart, and from a snapshot", () => {
    limit("keys", 3);
    limit("bytes", 40);
    for (let at = 0; at < 60; at++) {
      const key = `k${at % 5}`;
      log.execute(at % 4 === 3 ? remove(key) : put(key, "x".repeat((at * 7) % 23), at % 3));
      if (at % 10 === 9) {
        log.tickMs += 1_500;
        log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 2) });
        // Within a slice, the next entry uses the new limit.
        limit("keys", 1 + (at % 3));
        log.execute(put("k9"));
      }
    }
    const contentOf = (outcomes: ReturnType<typeof applyRows>) => {
      return outcomes.map((outcome) => {
        const answer = outcome?.answer;
        return answer instanceof CoordinationError ? [answer.reason, answer.message] : answer;
      });
    };
    const every = new Set(log.rows.map((_, at) => at + 1));
    const store = new MemoryStateStore();
    const wanted = contentOf(applyRows(machineOver(store), log.rows, every));
    expect(wanted.filter((content) => Array.isArray(content)).length, "refusals").above(5);
    for (const size of [2, 3, 7, log.rows.length]) {
      const slices = new Set([...every].filter((index) => index % size === 0));
      const prefix = Math.floor(log.rows.length / size);
      const before = new MemoryStateStore();
      const first = contentOf(applyRows(machineOver(before), log.rows.slice(0, prefix), slices));
      const copy = new MemoryStateStore();
      before.scan(new Uint8Array(0), Uint8Array.of(0xff), (row) => {
        copy.write([row]);
        return true;
      });
      const machine = machineOver(copy);
      expect([...first, ...contentOf(applyRows(machine, log.rows.slice(prefix), slices))]).deep.equal(wanted);
      expect(machine.progress).deep.equal(log.progress);
      expect(dumpOf(copy)).deep.equal(log.dump());
    }
  });

  it("answer a retry of a refused request with the refusal, although there is space by now (S13)", () => {
    limit("keys", 0);
    const request = requestOf(77);
    expect(log.refusal(put("a"), { request }).reason).equal("QUOTA");
    limit("keys", 1);
    expect(log.refusal(put("a"), { request }).reason).equal("QUOTA");
    log.result(put("a"));
  });

  it("show the usage of namespaces, page by page, and no namespace without usage", () => {
    for (const namespace of ["a", "b", "c"]) {
      log.result({ kind: "create-namespace", namespace });
      log.result(put("key", "value", 0, namespace));
    }
    const names: string[] = [];
    const visit = (after: string | null) => {
      return scanNamespaceUsage(log.store, after, 2, (namespace, { keys, bytes }) => {
        names.push(`${namespace} ${keys} ${bytes}`);
      });
    };
    expect(visit(null)).equal("b");
    expect(visit("b")).equal(null);
    expect(names).deep.equal(["a 1 8", "b 1 8", "c 1 8"]);
  });
});
