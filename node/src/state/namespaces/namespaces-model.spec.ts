import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedEventLog,
  AppliedLog,
  acquireLock,
  createLock,
  expectExactReplays,
  expectExactUsage,
  expectSameFromRestart,
  stepOf,
} from "../../../test/index.ts";
import { CoordinationError, compactRevisionOf, readNamespace, scanHistory } from "../core/index.ts";
import { listLogs } from "../event-logs/index.ts";
import type { ClientOperation } from "../index.ts";
import { expiredKeys, listKeys } from "../keys/index.ts";
import { dueLockTimers } from "../locks/index.ts";
import { listMemory } from "../memory/index.ts";
import { hasNamespaceErasures } from "./namespace-deletion.ts";

/** Names that are prefixes of each other, or have a meaning elsewhere. */
const NAMESPACES = ["a", "ab", "a.b", "constructor"];
const KEYS = ["k", "kk", "l", ""].map((key) => `${key}x`);
const LOCKS = ["l", "m"];
const ALL_KEYS = { entriesMax: 1_000, bytesMax: 1_000_000, keysOnly: true };

const namespace = fc.constantFrom(...NAMESPACES);
const rowsMax = fc.integer({ min: 1, max: 9 });
const operation = fc.oneof(
  stepOf(8, "put", { namespace, key: fc.constantFrom(...KEYS), ttlSeconds: fc.constantFrom(0, 1, 60) }),
  stepOf(2, "delete-key", { namespace, key: fc.constantFrom(...KEYS) }),
  stepOf(3, "create-lock", { namespace, name: fc.constantFrom(...LOCKS), rw: fc.boolean() }),
  stepOf(6, "acquire", { namespace, name: fc.constantFrom(...LOCKS), mode: fc.constantFrom("exclusive", "read") }),
  stepOf(2, "allocate", { namespace, written: fc.boolean() }),
  stepOf(2, "create-log", { namespace, name: fc.constantFrom("e", "f"), events: fc.integer({ min: 0, max: 3 }) }),
  stepOf(6, "create-namespace", { namespace }),
  stepOf(4, "delete-namespace", { namespace, recursive: fc.boolean() }),
  stepOf(12, "erase", { rowsMax }),
  stepOf(3, "erase-others", { rowsMax }),
  stepOf(3, "pass", { milliseconds: fc.constantFrom(10, 2_000, 40_000) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

/** What a namespace has, in sets of names. */
class ModelNamespace {
  readonly keys = new Map<string, number>();
  readonly locks = new Set<string>();
  readonly logs = new Set<string>();
  regions = 0;
  /** Of the request for its deletion; 0 = there was none. */
  deleteRevision = 0;

  get isEmpty(): boolean {
    return this.keys.size + this.locks.size + this.logs.size + this.regions === 0;
  }
}

class Comparison {
  readonly log = new AppliedLog();
  readonly #namespaces = new Map<string, ModelNamespace>();
  /** By namespace: the revision of its last deletion. */
  readonly #deleted = new Map<string, number>();
  readonly #seen: Set<string>;
  #lastToken = 0;

  constructor(seen: Set<string>) {
    this.#seen = seen;
  }

  run(operations: readonly Operation[]): void {
    for (const each of operations) {
      this.log.tickMs += 1;
      this.#execute(each);
      this.#forgetErased();
    }
    this.#compare();
    this.#finish();
    this.#compare();
    expectExactReplays(this.log.store);
  }

  /** Whether the namespace is there for requests; its absence must be the reason of the answer. */
  #live(name: string): ModelNamespace | null {
    const found = this.#namespaces.get(name);
    return found === undefined || found.deleteRevision > 0 ? null : found;
  }

  /** Executes it, and compares the reason of its refusal; null = it is accepted. */
  #ask(asked: ClientOperation, reason: string | null) {
    const { answer } = this.log.execute(asked);
    const refused = answer instanceof CoordinationError ? answer.reason : null;
    expect(refused, JSON.stringify(asked)).to.equal(reason);
    this.#seen.add(`${asked.kind}: ${reason ?? "done"}`);
    return answer;
  }

  #execute(each: Operation): void {
    switch (each.kind) {
      case "put":
      case "delete-key":
        this.#changeKey(each);
        return;
      case "create-lock":
      case "acquire":
        this.#useLock(each);
        return;
      case "allocate":
        this.#allocate(each);
        return;
      case "create-log":
        this.#createLog(each);
        return;
      case "create-namespace":
        this.#create(each.namespace);
        return;
      case "delete-namespace":
        this.#delete(each.namespace, each.recursive);
        return;
      case "erase":
        this.log.lead({ kind: "erase-namespaces", rowsMax: each.rowsMax });
        return;
      case "erase-others":
        this.#eraseOthers(each.rowsMax);
        return;
      case "pass":
        this.#pass(each.milliseconds);
    }
  }

  #changeKey(each: Extract<Operation, { readonly kind: "put" | "delete-key" }>): void {
    const space = this.#live(each.namespace);
    const key = { namespace: each.namespace, key: Buffer.from(each.key), expectedModRevision: undefined } as const;
    if (each.kind === "put") {
      const put = { kind: "put-key", ...key, value: Buffer.from("v"), returnPrevious: false } as const;
      this.#ask({ ...put, ttlSeconds: each.ttlSeconds }, space === null ? "NAMESPACE_NOT_FOUND" : null);
      space?.keys.set(each.key, each.ttlSeconds === 0 ? Infinity : this.log.tickMs + each.ttlSeconds * 1_000);
      return;
    }
    const absent = space?.keys.has(each.key) === true ? null : "KEY_NOT_FOUND";
    this.#ask({ kind: "delete-key", ...key, returnPrevious: false }, space === null ? "NAMESPACE_NOT_FOUND" : absent);
    space?.keys.delete(each.key);
  }

  #useLock(each: Extract<Operation, { readonly kind: "create-lock" | "acquire" }>): void {
    const space = this.#live(each.namespace);
    const { namespace: of, name } = each;
    if (each.kind === "create-lock") {
      const id = `${each.rw} ${name}`;
      const taken = space?.locks.has(id) === true ? "LOCK_EXISTS" : null;
      this.#ask(createLock({ namespace: of, name, rw: each.rw }), space === null ? "NAMESPACE_NOT_FOUND" : taken);
      space?.locks.add(id);
      return;
    }
    const absent = space?.locks.has(`${each.mode !== "exclusive"} ${name}`) === true ? null : "LOCK_NOT_FOUND";
    const asked = acquireLock({ namespace: of, name, mode: each.mode, waitMs: 30_000 });
    const answer = this.#ask(asked, space === null ? "NAMESPACE_NOT_FOUND" : absent);
    if ("kind" in answer && answer.kind === "acquire-lock" && answer.hold !== null) {
      expect(answer.hold.token).to.be.above(this.#lastToken);
      this.#lastToken = answer.hold.token;
    }
  }

  #allocate({ namespace: of, written }: Extract<Operation, { readonly kind: "allocate" }>): void {
    const space = this.#live(of);
    const asked = { kind: "allocate-memory", namespace: of, sizeBytes: 9_000, label: "" } as const;
    const answer = this.#ask(asked, space === null ? "NAMESPACE_NOT_FOUND" : null);
    if (space !== null && "kind" in answer && answer.kind === "allocate-memory") {
      space.regions++;
      const region = { namespace: of, regionId: answer.regionId, expectedVersion: undefined };
      if (written) {
        this.#ask({ kind: "write-memory", ...region, offset: 4_090, data: Buffer.from("across pages") }, null);
      }
    }
  }

  #createLog({ namespace: of, name, events }: Extract<Operation, { readonly kind: "create-log" }>): void {
    const space = this.#live(of);
    if (space === null || space.logs.has(name)) {
      const settings = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };
      const reason = space === null ? "NAMESPACE_NOT_FOUND" : "LOG_EXISTS";
      this.#ask({ kind: "create-log", namespace: of, name, settings }, reason);
      return;
    }
    const created = new AppliedEventLog({ retentionMaxAgeSecs: 60 }, { log: this.log, namespace: of, name });
    space.logs.add(name);
    for (let event = 0; event < events; event++) {
      created.append(`event ${event}`, { idempotencyKey: `key ${event}` });
    }
  }

  #create(name: string): void {
    const former = this.#namespaces.get(name);
    const taken = former !== undefined && former.deleteRevision > 0 ? "NAMESPACE_DELETING" : "NAMESPACE_EXISTS";
    this.#ask({ kind: "create-namespace", namespace: name }, former === undefined ? null : taken);
    this.#namespaces.set(name, former ?? new ModelNamespace());
  }

  #delete(name: string, recursive: boolean): void {
    const found = this.#namespaces.get(name);
    const asked = { kind: "delete-namespace", namespace: name, recursive } as const;
    if (found === undefined) {
      this.#ask(asked, "NAMESPACE_NOT_FOUND");
      return;
    }
    const isRefused = found.deleteRevision === 0 && !recursive && !found.isEmpty;
    const answer = this.#ask(asked, isRefused ? "NOT_EMPTY" : null);
    if ("kind" in answer && answer.kind === "delete-namespace") {
      expect(answer.revision).to.equal(found.deleteRevision > 0 ? found.deleteRevision : this.log.revision);
      found.deleteRevision = answer.revision;
      this.#deleted.set(name, answer.revision);
    }
  }

  #eraseOthers(most: number): void {
    this.log.lead({ kind: "erase-memory", rowsMax: most });
    this.log.lead({ kind: "erase-logs", rowsMax: most });
  }

  /** Time passes, and the leader lets expire what is due, also in namespaces that are being deleted. */
  #pass(milliseconds: number): void {
    const { log } = this;
    log.tickMs += milliseconds;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 100) });
    log.lead({ kind: "expire-locks", timers: dueLockTimers(log.store, log.tickMs, 100) });
    for (const { keys } of this.#namespaces.values()) {
      for (const [key, deadlineMs] of keys) {
        if (deadlineMs < log.tickMs) {
          keys.delete(key);
        }
      }
    }
  }

  /** A namespace whose record is gone has left nothing: neither a row nor a change in the history. */
  #forgetErased(): void {
    for (const [name, { deleteRevision }] of this.#namespaces) {
      if (deleteRevision > 0 && readNamespace(this.log.store, name) === undefined) {
        this.#namespaces.delete(name);
        this.#seen.add("gone");
        expect(this.log.dump().filter((row) => /^[dlmNoX]/.test(row) && isOf(row.slice(1), name))).to.deep.equal([]);
        expect(this.#changesOf(name)).to.equal(0);
      }
    }
  }

  #changesOf(name: string): number {
    let count = 0;
    scanHistory(this.log.store, 0, this.log.revision, ({ changes }) => {
      count += changes.filter((change) => change.namespace === name).length;
      return true;
    });
    return count;
  }

  #compare(): void {
    const { store } = this.log;
    for (const [name, space] of this.#namespaces) {
      if (space.deleteRevision === 0) {
        const keys = listKeys(store, name, new Uint8Array(0), undefined, ALL_KEYS).keys;
        expect(keys.map(({ key }) => Buffer.from(key).toString())).to.have.members([...space.keys.keys()]);
        expect(listMemory(store, name, undefined, 1_000).regions).to.have.lengthOf(space.regions);
        const selection = { namespaces: [name], name: null };
        const logs = listLogs(store, selection, null, 1_000, () => true).logs;
        expect(logs.map((log) => log.name)).to.have.members([...space.logs]);
      }
    }
    for (const [name, revision] of this.#deleted) {
      expect(compactRevisionOf(store, name)).to.be.above(revision);
    }
    expectExactUsage(store);
  }

  /** A leader does all that is left. */
  #finish(): void {
    for (let steps = 0; hasNamespaceErasures(this.log.store) || this.#isDeleting; steps++) {
      expect(steps).to.be.below(500);
      this.log.lead({ kind: "erase-namespaces", rowsMax: 5 });
      this.#eraseOthers(5);
      this.#forgetErased();
    }
  }

  get #isDeleting(): boolean {
    return [...this.#namespaces.values()].some(({ deleteRevision }) => deleteRevision > 0);
  }
}

/** Whether the rest of a row's key begins with this namespace as a whole. */
function isOf(rest: string, name: string): boolean {
  return rest.startsWith(`${name}\0`) || rest.startsWith(`${name} =`);
}

describe("namespaces beside a model of sets", () => {
  it("S49: have what the model has, refuse what it refuses, and leave nothing, over random operations", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 40, maxLength: 160, size: "max" }),
        fc.nat(),
        fc.integer({ min: 1, max: 30 }),
        (operations, prefix, sliceEntries) => {
          const comparison = new Comparison(seen);
          comparison.run(operations);
          const { log } = comparison;
          expectSameFromRestart(log, 1 + (prefix % (log.rows.length - 1)), sliceEntries);
        },
      ),
      { numRuns: 30 },
    );
    expect(seen).to.include.members([
      ...["NAMESPACE_EXISTS", "NAMESPACE_DELETING", "done"].map((words) => `create-namespace: ${words}`),
      ...["NOT_EMPTY", "NAMESPACE_NOT_FOUND", "done"].map((words) => `delete-namespace: ${words}`),
      ...["put-key: NAMESPACE_NOT_FOUND", "acquire-lock: NAMESPACE_NOT_FOUND", "write-memory: done", "gone"],
    ]);
  });
});
