import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedLog,
  applyRows,
  dumpOf,
  FOUNDING,
  MemoryStateStore,
  machineOver,
  OWNER,
  putOf,
  requestOf,
  soleVoter,
} from "../../test/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { EntryType, encodeEntry, NO_ENVELOPE, sealEntry } from "../raft/index.ts";
import { readApiKey, readUser, writeApiKey, writeUser } from "./accounts/index.ts";
import { encodeCommand } from "./command.ts";
import {
  type Change,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  keyRow,
  type Outcome,
  PROGRESS_ROW,
  Transaction,
} from "./core/index.ts";
import { expiredKeys, readKey } from "./keys/index.ts";

const KEY = Buffer.from("k");

const put = (value = "v", key: Uint8Array = KEY) => putOf(key, value);

function rowOf(index: number, term: number, type: number, payload: Uint8Array = new Uint8Array(0)): Uint8Array {
  const row = encodeEntry(type as EntryType, NO_ENVELOPE, payload);
  sealEntry(row, term, index, crc32);
  return row;
}

const reconfigure = soleVoter;

/** An outcome as data that can be compared: errors also contain where they were made. */
function contentOf(outcome: Outcome | null): unknown {
  if (outcome?.answer instanceof CoordinationError) {
    const { reason, message, details } = outcome.answer;
    return { reason, message, details, replayed: outcome.replayed };
  }
  return outcome;
}

// -- Random logs --------------------------------------------------------------------------------------------------

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      key: fc.nat({ max: 5 }),
      bytes: fc.constantFrom(0, 1, 30, 5_000),
      ttlSeconds: fc.constantFrom(0, 1, 400),
      expected: fc.constantFrom(undefined, 0, 5),
      // Few ids, so that requests repeat, sometimes with another payload.
      request: fc.nat({ max: 40 }),
      payload: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("swap" as const),
      key: fc.nat({ max: 5 }),
      request: fc.nat({ max: 1_000 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("delete" as const),
      key: fc.nat({ max: 5 }),
      request: fc.nat({ max: 1_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("namespace" as const), name: fc.constantFrom("a", "__proto__") }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 900, 200_000) }) },
  { weight: 3, arbitrary: fc.constantFrom({ kind: "expire" } as const, { kind: "prune" } as const) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: "tick" } as const, { kind: "empty" } as const) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function logOf(steps: readonly Step[]): AppliedLog {
  const log = new AppliedLog();
  for (const each of steps) {
    switch (each.kind) {
      case "put": {
        const { bytes, ttlSeconds, expected, request, payload } = each;
        const key = Buffer.from(`k${each.key}`);
        const operation = {
          ...put("", key),
          value: new Uint8Array(bytes).fill(payload),
          ttlSeconds,
          returnPrevious: true,
        };
        log.execute({ ...operation, expectedModRevision: expected }, { request: requestOf(request, payload) });
        break;
      }
      case "swap":
        log.execute(
          {
            kind: "compare-and-swap",
            namespace: "default",
            key: Buffer.from(`k${each.key}`),
            expectedValue: new Uint8Array(0),
            newValue: Uint8Array.of(1),
            expectedModRevision: undefined,
            ttlSeconds: 0,
          },
          { request: requestOf(each.request + 100) },
        );
        break;
      case "delete": {
        const operation = { key: Buffer.from(`k${each.key}`), expectedModRevision: undefined, returnPrevious: true };
        log.execute(
          { kind: "delete-key", namespace: "default", ...operation },
          { request: requestOf(each.request + 2_000) },
        );
        break;
      }
      case "namespace":
        log.execute({ kind: "create-namespace", namespace: each.name });
        break;
      case "pass":
        log.tickMs += each.ms;
        log.wallMs += each.ms;
        break;
      case "expire":
        log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 3) });
        break;
      case "prune":
        log.lead({ kind: "drop-replays" });
        break;
      case "tick":
        log.lead({ kind: "tick" });
        break;
      case "empty":
        log.append(EntryType.Empty, new Uint8Array(0));
        break;
    }
  }
  return log;
}

describe("the state machine under random logs", () => {
  const steps = fc.array(step, { minLength: 60, maxLength: 90 });
  const ends = fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 30 }).map((list) => new Set(list));

  it("G2, P44: has the same rows, digests and outcomes on every member for the same entries, in any slices", () => {
    fc.assert(
      fc.property(steps, ends, (script, sliceEnds) => {
        const log = logOf(script);
        const every = new Set(log.rows.map((_, at) => at + 1));
        const [first, ...others] = [new Set<number>(), sliceEnds, every].map((slices) => {
          const store = new MemoryStateStore();
          const machine = machineOver(store);
          const outcomes = applyRows(machine, log.rows, slices).map(contentOf);
          return { outcomes, progress: machine.progress, rows: dumpOf(store) };
        });
        expect(others).to.deep.equal([first, first]);
        expect(first?.rows).to.deep.equal(log.dump());
      }),
      { numRuns: 30 },
    );
  });

  it("P42: continues after a restart at any point as if there had been none", () => {
    fc.assert(
      fc.property(steps, ends, (script, sliceEnds) => {
        const log = logOf(script);
        for (let applied = 0; applied <= log.rows.length; applied += 1) {
          const store = new MemoryStateStore();
          applyRows(machineOver(store), log.rows.slice(0, applied), sliceEnds);
          const restarted = machineOver(store);
          expect(restarted.progress.appliedIndex).to.equal(applied);
          applyRows(restarted, log.rows.slice(applied), sliceEnds);
          expect(restarted.progress).to.deep.equal(log.progress);
          expect(dumpOf(store)).to.deep.equal(log.dump());
        }
      }),
      { numRuns: 4 },
    );
  });

  it("P42: loses uncommitted entries, and only those, when the process ends", () => {
    fc.assert(
      fc.property(steps, fc.nat(), (script, at) => {
        const log = logOf(script);
        const committed = at % log.rows.length;
        const store = new MemoryStateStore();
        const machine = machineOver(store);
        applyRows(machine, log.rows.slice(0, committed));
        const before = dumpOf(store);
        for (const row of log.rows.slice(committed)) {
          machine.apply(row, reconfigure);
        }
        expect(dumpOf(store)).to.deep.equal(before);
        expect(machine.progress.appliedIndex).to.equal(committed);
      }),
      { numRuns: 20 },
    );
  });

  it("has another digest for another log", () => {
    const digests = new Set<number>();
    for (const value of ["a", "b", "ab", ""]) {
      const log = new AppliedLog();
      log.execute(put(value));
      digests.add(log.progress.digest);
    }
    expect(digests.size).to.equal(4);
  });

  it("has this digest for this log: a change of an entry's effect needs a new cluster version", () => {
    const log = new AppliedLog(undefined, { ...FOUNDING, clusterVersion: 3 });
    log.result({ kind: "create-namespace", namespace: "a" }, { request: requestOf(1) });
    log.result({ ...put("value"), ttlSeconds: 1 }, { request: requestOf(2) });
    log.refusal({ ...put("value"), expectedModRevision: 1 }, { request: requestOf(3) });
    log.tickMs += 1_001;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 10) });
    log.tickMs += 330_000;
    log.lead({ kind: "drop-replays" });
    const { appliedIndex, revision, digest, dataBytes, expiringKeys, storedAnswers } = log.progress;
    expect({ appliedIndex, revision, digest, dataBytes, expiringKeys, storedAnswers }).to.deep.equal({
      appliedIndex: 6,
      revision: 4,
      digest: 1_292_448_323,
      dataBytes: 1,
      expiringKeys: 0,
      storedAnswers: 0,
    });
  });
});

describe("applying an entry", () => {
  it("shows the changes of the last entry to keys, for any reader of the history", () => {
    const log = new AppliedLog();
    log.result({ ...put("value"), ttlSeconds: 1 });
    log.refusal({ ...put("value"), expectedModRevision: 1 });
    log.tickMs += 1_001;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 10) });
    const machine = machineOver(new MemoryStateStore());
    const kinds = log.rows.map((row) => {
      machine.apply(row, reconfigure);
      return machine.watched.map(({ kind }) => kind);
    });
    expect(kinds.slice(-3)).to.deep.equal([["put"], [], ["expire"]]);
  });

  it("shows nothing before the commit, and then everything in one batch with the progress", () => {
    const batches: Change[][] = [];
    const store = new (class extends MemoryStateStore {
      override write(changes: readonly Change[]): void {
        batches.push([...changes]);
        super.write(changes);
      }
    })();
    const machine = machineOver(store);
    const log = new AppliedLog();
    log.execute(put());
    for (const row of log.rows) {
      machine.apply(row, reconfigure);
    }
    expect([batches.length, machine.progress.appliedIndex]).to.deep.equal([0, 0]);
    machine.commit();
    expect(batches.length).to.equal(1);
    const keys = batches[0]?.map(({ key }) => Buffer.from(key).toString("hex")) ?? [];
    expect(keys).to.include(Buffer.from(PROGRESS_ROW).toString("hex"));
    expect(keys).to.include(Buffer.from(keyRow("default", KEY)).toString("hex"));
    expect(new Set(keys).size).to.equal(keys.length);
    expect(machine.progress.appliedIndex).to.equal(2);
    machine.commit();
    expect(batches.length, "there is nothing more to write").to.equal(1);
  });

  it("happens in the order of the log, once", () => {
    const log = new AppliedLog();
    const machine = machineOver(log.store);
    for (const index of [0, 1, 3]) {
      expect(() => machine.apply(rowOf(index, 1, EntryType.Empty), reconfigure)).to.throw(
        InvariantViolation,
        "one by one",
      );
    }
    expect(machine.apply(rowOf(2, 5, EntryType.Empty), reconfigure)).to.equal(null);
    expect(() => machine.apply(rowOf(3, 4, EntryType.Empty), reconfigure)).to.throw(
      InvariantViolation,
      "terms never fall",
    );
  });

  it("without content advances the index, and changes nothing else", () => {
    const log = new AppliedLog();
    const before = log.progress;
    const rows = log.dump().filter((row) => !row.startsWith("a"));
    log.append(EntryType.Empty, new Uint8Array(0));
    log.lead({ kind: "tick" });
    log.lead({ kind: "expire-keys", keys: [] });
    log.lead({ kind: "drop-replays" });
    expect(log.progress).to.deep.equal({ ...before, appliedIndex: 5 });
    expect(log.dump().filter((row) => !row.startsWith("a"))).to.deep.equal(rows);
  });

  it("advances the clocks, and never moves them back", () => {
    const log = new AppliedLog();
    log.tickMs = 9_000;
    log.wallMs += 1_000;
    const { wallMs } = log;
    log.lead({ kind: "tick" });
    log.tickMs = 8_000;
    log.wallMs -= 5_000;
    log.lead({ kind: "tick" });
    expect([log.progress.tickMs, log.progress.wallMs]).to.deep.equal([9_000, wallMs]);
  });

  describe("that carries the digest at a checkpoint", () => {
    const check = (index: number, digest: number): Uint8Array =>
      encodeCommand({ principal: null, request: null, operation: { kind: "check-digest", index, digest } });

    /** A machine with a checkpoint at every second index, after five entries and this one. */
    function afterCheck(index: number, change: number) {
      const log = new AppliedLog();
      for (const value of ["1", "2", "3", "4"]) {
        log.execute(put(value));
      }
      const machine = machineOver(new MemoryStateStore(), { ...DEFAULT_STATE_LIMITS, checkpointEntries: 2 });
      const digests: number[] = [];
      for (const row of log.rows) {
        machine.apply(row, reconfigure);
        machine.commit();
        digests.push(machine.progress.digest);
      }
      const digest = ((digests[index - 1] ?? 0) ^ change) >>> 0;
      expect(machine.apply(rowOf(6, 1, EntryType.Command, check(index, digest)), reconfigure)).to.equal(null);
      const digestBefore = digests[4];
      machine.commit();
      expect(machine.progress.digest, "the entry changes nothing").to.equal(digestBefore);
      return { divergence: machine.divergence, digests };
    }

    it("P44: shows whether the state equals that of the cluster", () => {
      expect(afterCheck(4, 0).divergence).to.equal(null);
      const { divergence, digests } = afterCheck(4, 1);
      const digest = digests[3] as number;
      expect(divergence).to.deep.equal({ index: 4, digest, clusterDigest: (digest ^ 1) >>> 0 });
    });

    it("shows nothing without a checkpoint at the index, or without one yet", () => {
      expect(afterCheck(3, 1).divergence).to.equal(null);
      expect(afterCheck(8, 1).divergence).to.equal(null);
    });
  });

  it("of an unknown type is a violation", () => {
    for (const type of [0, 7, 255]) {
      expect(() => machineOver(new MemoryStateStore()).apply(rowOf(1, 1, type), reconfigure)).to.throw(
        InvariantViolation,
        "known type",
      );
    }
  });

  it("of an unknown kind or with broken content is a violation, never skipped", () => {
    const command = encodeCommand({ principal: OWNER, request: requestOf(1), operation: put() });
    const unknown = command.slice();
    unknown[1] = 200;
    for (const payload of [unknown, command.subarray(0, -1), Uint8Array.of(...command, 0), new Uint8Array(0)]) {
      const log = new AppliedLog();
      expect(() => log.append(EntryType.Command, payload)).to.throw(InvariantViolation);
    }
    expect(() => machineOver(new MemoryStateStore()).apply(rowOf(1, 1, EntryType.Bootstrap), reconfigure)).to.throw(
      InvariantViolation,
    );
  });

  it("over a broken row is a violation, not a refusal", () => {
    const log = new AppliedLog();
    log.store.write([{ key: keyRow("default", KEY), value: Uint8Array.of(1, 2, 3) }]);
    expect(() => log.execute(put())).to.throw(InvariantViolation, "records are as long as their fields");
  });

  it("founds with the configuration of the consensus core", () => {
    const machine = machineOver(new MemoryStateStore());
    const asked: number[] = [];
    const outcome = machine.apply(new AppliedLog().rows[0] as Uint8Array, (index, change, expectIndex) => {
      asked.push(index);
      return reconfigure(index, change, expectIndex);
    });
    expect([outcome, asked]).to.deep.equal([null, [1]]);
  });
});

describe("the caller, in apply", () => {
  const WITH_KEY = { subject: OWNER.subject, apiKeyId: FOUNDING.owner.apiKeyId };

  /** Changes the owner and their API key outside the state machine, as another command would. */
  function change(log: AppliedLog, user: object, apiKey: object = {}): void {
    const ownerBefore = readUser(log.store, OWNER.subject);
    const keyBefore = readApiKey(log.store, FOUNDING.owner.apiKeyId);
    if (ownerBefore === undefined || keyBefore === undefined) {
      throw new Error("there is no owner");
    }
    const transaction = new Transaction(log.store, (previous) => previous, 0);
    writeUser(transaction, { ...ownerBefore, ...user });
    writeApiKey(transaction, { ...keyBefore, ...apiKey });
    log.store.write(transaction.take());
  }

  it("is checked before the look-up of the stored answer: a revoked caller gets no information", () => {
    const log = new AppliedLog();
    log.result(put(), { request: requestOf(1), principal: WITH_KEY });
    change(log, {}, { revokedAtMs: 1 });
    const { revision } = log;
    for (const request of [requestOf(1), requestOf(1, 2), requestOf(3)]) {
      const error = log.refusal(put(), { request, principal: WITH_KEY });
      expect([error.code, error.reason]).to.deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
    }
    expect(log.revision).to.equal(revision);
    expect(log.execute(put(), { request: requestOf(1) }).replayed, "the login still has access").to.equal("yes");
    change(log, { status: "disabled" });
    expect(log.refusal(put(), { request: requestOf(1) }).reason).to.equal("TOKEN_REVOKED");
  });

  it("is checked by the log's wall clock: an API key expires in the middle of the log", () => {
    const log = new AppliedLog();
    change(log, {}, { expiresAtMs: log.wallMs + 1_000 });
    log.wallMs += 999;
    log.result(put(), { principal: WITH_KEY });
    log.wallMs += 1;
    expect(log.refusal(put(), { principal: WITH_KEY }).reason).to.equal("TOKEN_EXPIRED");
    log.wallMs -= 1_000_000;
    expect(log.refusal(put(), { principal: WITH_KEY }).reason, "also on a member whose clock is behind").to.equal(
      "TOKEN_EXPIRED",
    );
  });

  it("S43: learns nothing about namespaces without access", () => {
    const log = new AppliedLog();
    change(log, { namespaces: ["prod-eu"] });
    const there = log.refusal({ ...put(), namespace: "default" });
    const nowhere = log.refusal({ ...put(), namespace: "prod" });
    expect([there.reason, nowhere.reason]).to.deep.equal(["NAMESPACE_DENIED", "NAMESPACE_DENIED"]);
    expect(there.message.replace("default", "prod")).to.equal(nowhere.message);
    expect(readKey(log.store, "default", KEY)).to.equal(undefined);
  });

  it("needs admin access to create namespaces, which may be in its list before they exist, and write access for keys", () => {
    const log = new AppliedLog();
    change(log, { role: "member", namespaces: ["default", "new"] });
    log.result(put());
    expect(log.refusal({ kind: "create-namespace", namespace: "new" }).reason).to.equal("ACCESS_DENIED");
    change(log, { role: "viewer" });
    expect(log.refusal(put()).reason).to.equal("ACCESS_DENIED");
    change(log, { role: "admin" });
    log.result({ kind: "create-namespace", namespace: "new" });
    expect(log.refusal({ kind: "create-namespace", namespace: "newer" }).reason).to.equal("NAMESPACE_DENIED");
  });
});
