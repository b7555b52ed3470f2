import { expect } from "chai";
import fc from "fast-check";
import { AppliedLog, answerOrRefusal, expectExactUsage, stepOf } from "../../../test/index.ts";
import { compareBytes } from "../../bytes/index.ts";
import { CoordinationError, type StoredKey } from "../core/index.ts";
import type { ClientOperation, ClusterOperation } from "../index.ts";
import { expiredKeys, listKeys, readKey } from "./keys.ts";

const NAMESPACES = ["default", "__proto__", "constructor"];
/** Few, so that operations conflict, and in the order of their bytes. */
const KEYS = ["\0", "__proto__", "a", "a\0", "a\0b", "é", "\uFFFF", "😀"].map((key) => new TextEncoder().encode(key));
const VALUES = [new Uint8Array(0), Uint8Array.of(1), Uint8Array.of(2), new Uint8Array(20).fill(3)];
const NO_BYTES = new Uint8Array(0);

/** The meaning of an expectation depends on the state when its operation comes. */
type Expected = "any" | "absent" | "right" | "wrong";

const expected = fc.constantFrom<Expected[]>("any", "any", "absent", "right", "wrong");
const target = { namespace: fc.constantFrom(...NAMESPACES), key: fc.constantFrom(...KEYS) };
const value = fc.constantFrom(...VALUES);
const ttlSeconds = fc.constantFrom(0, 0, 1, 2, 5);
const returnPrevious = fc.boolean();

const operation = fc.oneof(
  stepOf(8, "put-key", { ...target, value, ttlSeconds, expected, returnPrevious }),
  stepOf(4, "delete-key", { ...target, expected, returnPrevious }),
  stepOf(6, "compare-and-swap", {
    ...target,
    expectedValue: fc.option(value, { nil: undefined }),
    newValue: value,
    expected,
    ttlSeconds,
  }),
  stepOf(4, "touch-key", { ...target, ttlSeconds, expected }),
  stepOf(1, "create-namespace", { namespace: target.namespace }),
  stepOf(3, "pass", { ms: fc.integer({ min: 0, max: 1_500 }) }),
  stepOf(3, "expire", { countMax: fc.integer({ min: 0, max: 4 }) }),
  stepOf(1, "expire-named", { ...target, expected }),
  stepOf(3, "list", {
    namespace: target.namespace,
    prefix: fc.constantFrom(NO_BYTES, ...KEYS),
    entriesMax: fc.integer({ min: 1, max: 5 }),
    bytesMax: fc.integer({ min: 0, max: 60 }),
    keysOnly: fc.boolean(),
  }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type OperationOf<Kind> = Extract<Operation, { readonly kind: Kind }>;

/** Namespaces and keys in the simplest form: with Maps and without row bytes. */
class Model {
  readonly namespaces = new Map<string, Map<string, StoredKey>>([["default", new Map()]]);
  revision = 1;
  tickMs = 1_000;

  keysOf(namespace: string): Map<string, StoredKey> {
    const keys = this.namespaces.get(namespace);
    if (keys === undefined) {
      throw new CoordinationError("NAMESPACE_NOT_FOUND", "");
    }
    return keys;
  }

  find(namespace: string, key: Uint8Array): StoredKey | undefined {
    return this.namespaces.get(namespace)?.get(key.toHex());
  }

  /** The revision that an expectation stands for in this state. */
  revisionOf(meaning: Expected, namespace: string, key: Uint8Array): number | undefined {
    const right = this.find(namespace, key)?.modRevision ?? 0;
    return { any: undefined, absent: 0, right, wrong: right + 1 }[meaning];
  }

  put(namespace: string, key: Uint8Array, newValue: Uint8Array, seconds: number): StoredKey {
    const keys = this.keysOf(namespace);
    const before = keys.get(key.toHex());
    this.revision++;
    const stored = {
      key,
      value: newValue,
      createRevision: before?.createRevision ?? this.revision,
      modRevision: this.revision,
      version: (before?.version ?? 0) + 1,
      deadlineMs: seconds === 0 ? 0 : this.tickMs + seconds * 1_000,
    };
    keys.set(key.toHex(), stored);
    return stored;
  }

  touch(namespace: string, before: StoredKey, seconds: number): StoredKey {
    const stored = { ...before, deadlineMs: seconds === 0 ? 0 : this.tickMs + seconds * 1_000 };
    this.keysOf(namespace).set(before.key.toHex(), stored);
    return stored;
  }

  delete(namespace: string, key: Uint8Array): void {
    this.keysOf(namespace).delete(key.toHex());
    this.revision++;
  }

  all(): { namespace: string; stored: StoredKey }[] {
    return [...this.namespaces].flatMap(([namespace, keys]) =>
      [...keys.values()].map((stored) => ({ namespace, stored })),
    );
  }
}

class Comparison {
  readonly log = new AppliedLog();
  readonly model = new Model();
  /** All kinds of answers that occurred. */
  readonly #seen: Set<string>;

  constructor(seen: Set<string>) {
    this.#seen = seen;
  }

  run(operations: readonly Operation[]): void {
    for (const each of operations) {
      this.#step(each);
      expect(this.log.revision).to.equal(this.model.revision);
    }
    const all = this.model.all();
    for (const namespace of this.model.namespaces.keys()) {
      for (const key of KEYS) {
        expect(readKey(this.log.store, namespace, key)).to.deep.equal(this.model.find(namespace, key));
      }
    }
    const { expiringKeys, dataBytes, totals } = this.log.progress;
    expect(totals.keys).to.equal(all.length);
    expect(expiringKeys).to.equal(all.filter(({ stored }) => stored.deadlineMs !== 0).length);
    // Without stored answers, the count includes only keys, values, and names of namespaces.
    expectExactUsage(this.log.store);
    this.log.tickMs += 10_000_000;
    this.log.lead({ kind: "drop-replays" });
    const names = [...this.model.namespaces.keys()].filter((name) => name !== "default").join("").length;
    const bytes = all.reduce((sum, { stored }) => sum + stored.key.length + stored.value.length, names);
    expect(this.log.progress.dataBytes).to.equal(bytes);
    expect(dataBytes).to.be.at.least(bytes);
  }

  #step(each: Operation): void {
    switch (each.kind) {
      case "create-namespace":
        this.#createNamespace(each);
        return;
      case "put-key":
        this.#put(each);
        return;
      case "delete-key":
        this.#delete(each);
        return;
      case "compare-and-swap":
        this.#swap(each);
        return;
      case "touch-key":
        this.#touch(each);
        return;
      case "pass":
        this.log.tickMs += each.ms;
        this.model.tickMs += each.ms;
        return;
      case "expire":
        this.#expire(each.countMax);
        return;
      case "expire-named":
        this.#expireNamed(each);
        return;
      case "list":
        this.#list(each);
        return;
    }
  }

  /** The state machine's answer must equal the model's, a refusal in its reason. */
  #compare(operationOfLog: ClientOperation, answerOfModel: () => unknown): void {
    const modelled = answerOrRefusal(answerOfModel);
    const wanted = modelled instanceof CoordinationError ? modelled.reason : modelled;
    const { answer, replayed } = this.log.execute(operationOfLog);
    expect(replayed).to.equal("no");
    const given = answer instanceof CoordinationError ? answer.reason : answer;
    expect(given).to.deep.equal(wanted);
    const kind = typeof given === "string" ? given : "success" in given ? `success ${given.success}` : "done";
    this.#seen.add(`${operationOfLog.kind}: ${kind}`);
  }

  #createNamespace({ namespace }: OperationOf<"create-namespace">): void {
    this.#compare({ kind: "create-namespace", namespace }, () => {
      if (this.model.namespaces.has(namespace)) {
        throw new CoordinationError("NAMESPACE_EXISTS", "");
      }
      this.model.namespaces.set(namespace, new Map());
      this.model.revision++;
      return { kind: "create-namespace", createdAtMs: this.log.wallMs, revision: this.model.revision };
    });
  }

  #put({ expected: meaning, ...fields }: OperationOf<"put-key">): void {
    const { namespace, key } = fields;
    const expectedModRevision = this.model.revisionOf(meaning, namespace, key);
    this.#compare({ ...fields, expectedModRevision }, () => {
      const before = this.model.keysOf(namespace).get(key.toHex());
      this.#requireRevision(expectedModRevision, before);
      const { modRevision } = this.model.put(namespace, key, fields.value, fields.ttlSeconds);
      return {
        kind: "put-key",
        modRevision,
        created: before === undefined,
        previous: fields.returnPrevious ? (before ?? null) : null,
        revision: modRevision,
      };
    });
  }

  #delete({ expected: meaning, ...fields }: OperationOf<"delete-key">): void {
    const { namespace, key } = fields;
    const expectedModRevision = this.model.revisionOf(meaning, namespace, key);
    this.#compare({ ...fields, expectedModRevision }, () => {
      const before = this.model.keysOf(namespace).get(key.toHex());
      if (before === undefined) {
        throw new CoordinationError("KEY_NOT_FOUND", "");
      }
      this.#requireRevision(expectedModRevision, before);
      this.model.delete(namespace, key);
      return {
        kind: "delete-key",
        previous: fields.returnPrevious ? before : null,
        revision: this.model.revision,
      };
    });
  }

  #swap({ expected: meaning, ...fields }: OperationOf<"compare-and-swap">): void {
    const { namespace, key, expectedValue } = fields;
    const expectedModRevision = this.model.revisionOf(meaning, namespace, key);
    this.#compare({ ...fields, expectedModRevision }, () => {
      const before = this.model.keysOf(namespace).get(key.toHex());
      const mustBeAbsent = expectedValue === undefined && expectedModRevision === undefined;
      const revisionHolds = expectedModRevision === undefined || expectedModRevision === (before?.modRevision ?? 0);
      const valueHolds = expectedValue === undefined || before?.value.toHex() === expectedValue.toHex();
      const success = mustBeAbsent ? before === undefined : revisionHolds && valueHolds;
      const after = success ? this.model.put(namespace, key, fields.newValue, fields.ttlSeconds) : before;
      return {
        kind: "compare-and-swap",
        success,
        currentExists: after !== undefined,
        currentValue: after?.value ?? NO_BYTES,
        modRevision: after?.modRevision ?? 0,
        revision: this.model.revision,
      };
    });
  }

  #touch({ expected: meaning, ...fields }: OperationOf<"touch-key">): void {
    const { namespace, key, ttlSeconds: seconds } = fields;
    const expectedModRevision = this.model.revisionOf(meaning, namespace, key);
    this.#compare({ ...fields, expectedModRevision }, () => {
      const before = this.model.keysOf(namespace).get(key.toHex());
      if (before === undefined) {
        throw new CoordinationError("KEY_NOT_FOUND", "");
      }
      this.#requireRevision(expectedModRevision, before);
      const { modRevision, deadlineMs } = this.model.touch(namespace, before, seconds);
      return { kind: "touch-key", modRevision, deadlineMs, revision: this.model.revision };
    });
  }

  #requireRevision(expectedModRevision: number | undefined, before: StoredKey | undefined): void {
    if (expectedModRevision !== undefined && expectedModRevision !== (before?.modRevision ?? 0)) {
      throw new CoordinationError("REVISION_MISMATCH", "");
    }
  }

  /** As a leader does: finds the due keys, and proposes their expiry. */
  #expire(countMax: number): void {
    const due = this.model
      .all()
      .filter(({ stored }) => stored.deadlineMs !== 0 && stored.deadlineMs < this.model.tickMs)
      .sort((a, b) => a.stored.deadlineMs - b.stored.deadlineMs);
    const named = expiredKeys(this.log.store, this.log.tickMs, countMax);
    expect(named.length).to.equal(Math.min(countMax, due.length));
    for (const { namespace, key, modRevision } of named) {
      expect(this.model.find(namespace, key)?.modRevision).to.equal(modRevision);
    }
    const deadlines = named.map(({ namespace, key }) => this.model.find(namespace, key)?.deadlineMs);
    expect(deadlines).to.deep.equal(due.slice(0, countMax).map(({ stored }) => stored.deadlineMs));
    this.#lead({ kind: "expire-keys", keys: named });
  }

  #expireNamed({ namespace, key, expected: meaning }: OperationOf<"expire-named">): void {
    const modRevision = this.model.revisionOf(meaning === "any" ? "right" : meaning, namespace, key) ?? 0;
    this.#lead({ kind: "expire-keys", keys: [{ namespace, key, modRevision }] });
  }

  #lead(leaderOperation: Extract<ClusterOperation, { readonly kind: "expire-keys" }>): void {
    this.log.lead(leaderOperation);
    for (const { namespace, key, modRevision } of leaderOperation.keys) {
      const stored = this.model.find(namespace, key);
      const isDue = stored !== undefined && stored.deadlineMs !== 0 && stored.deadlineMs < this.model.tickMs;
      if (isDue && stored.modRevision === modRevision) {
        this.model.delete(namespace, key);
        this.#seen.add("expired");
      }
    }
  }

  #list({ namespace, prefix, ...bounds }: OperationOf<"list">): void {
    const keys = this.model.namespaces.get(namespace);
    if (keys === undefined) {
      return;
    }
    const wanted = [...keys.values()]
      .filter(({ key }) => key.toHex().startsWith(prefix.toHex()))
      .sort((a, b) => compareBytes(a.key, b.key))
      .map((stored) => (bounds.keysOnly ? { ...stored, value: NO_BYTES } : stored));
    const listed: StoredKey[] = [];
    for (let more = true; more; ) {
      const page = listKeys(this.log.store, namespace, prefix, listed.at(-1)?.key, bounds);
      const bytes = page.keys.reduce((sum, { key, value: given }) => sum + key.length + given.length, 0);
      expect(page.keys.length).to.be.at.most(bounds.entriesMax);
      expect(bytes <= bounds.bytesMax || page.keys.length === 1).to.equal(true);
      listed.push(...page.keys);
      expect(listed.length, "ends").to.be.at.most(wanted.length);
      more = page.more;
    }
    expect(listed).to.deep.equal(wanted);
  }
}

describe("keys beside a model in Maps", () => {
  it("S14, S15, S16, S19, S21, S22: have the same answers and content over 10,000 random operations", () => {
    const seen = new Set<string>();
    const operations = fc.array(operation, { minLength: 500, maxLength: 500 });
    fc.assert(
      fc.property(operations, (script) => {
        new Comparison(seen).run(script);
      }),
      { numRuns: 20 },
    );
    // Without these cases, agreement would mean little.
    expect([...seen].sort()).to.deep.equal([
      "compare-and-swap: NAMESPACE_NOT_FOUND",
      "compare-and-swap: success false",
      "compare-and-swap: success true",
      "create-namespace: NAMESPACE_EXISTS",
      "create-namespace: done",
      "delete-key: KEY_NOT_FOUND",
      "delete-key: NAMESPACE_NOT_FOUND",
      "delete-key: REVISION_MISMATCH",
      "delete-key: done",
      "expired",
      "put-key: NAMESPACE_NOT_FOUND",
      "put-key: REVISION_MISMATCH",
      "put-key: done",
      "touch-key: KEY_NOT_FOUND",
      "touch-key: NAMESPACE_NOT_FOUND",
      "touch-key: REVISION_MISMATCH",
      "touch-key: done",
    ]);
  });
});
