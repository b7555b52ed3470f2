import { expect } from "chai";
import { MemoryStateStore, refused } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { EntryType, encodeEntry, sealEntry } from "../../raft/index.ts";
import { AnswerLedger } from "./answer-ledger.ts";
import { ApplyContext } from "./apply-context.ts";
import { HistoryLedger } from "./history-ledger.ts";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";
import { NamespaceAccounts } from "./namespace-accounts.ts";
import { AnswerForms } from "./outcome.ts";
import type { Progress } from "./progress.ts";
import { unsetLimits } from "./quotas.ts";
import { Transaction } from "./transaction.ts";

const NOTHING = new Uint8Array(0);
const BEFORE: Progress = {
  appliedIndex: 9,
  appliedTerm: 2,
  tickMs: 500,
  wallMs: 7_000,
  revision: 40,
  digest: 77,
  dataBytes: 90,
  expiringKeys: 1,
  storedAnswers: 1,
  lockTimers: 2,
  logs: 3,
  eventBytes: 60,
  logTimers: 4,
  logErasures: 1,
  totals: { keys: 4, lockHolds: 3, lockWaits: 0, memoryRegions: 1, memoryBytes: 4_096, sessions: 0 },
};

function rowOf(clocks: { readonly tickMs: number; readonly wallMs: number }, index: number): Uint8Array {
  const row = encodeEntry(EntryType.Empty, { ...clocks, origin: { memberId: 1, boot: 2, seq: index } }, NOTHING);
  sealEntry(row, 3, index, () => 0);
  return row;
}

function contextOf(entry: { tickMs?: number; wallMs?: number } = {}, before = BEFORE): ApplyContext {
  const store = new MemoryStateStore();
  const transaction = new Transaction(store, (previous) => previous + 1, before.digest);
  const limits = { ...DEFAULT_STATE_LIMITS, dataBytesMax: 100 };
  const accounts = new NamespaceAccounts(transaction, () => unsetLimits(limits));
  const nothing = (): void => undefined;
  const ledgers = {
    usage: { count: nothing, flush: nothing },
    accounts,
    history: new HistoryLedger(transaction),
    answerLedger: new AnswerLedger(transaction, store, limits.replayWindowMs, [1, 2]),
  };
  const context = new ApplyContext(transaction, limits, ledgers, new AnswerForms([]), before);
  context.begin(rowOf({ tickMs: 600, wallMs: 8_000, ...entry }, 10));
  return context;
}

describe("the context of an entry", () => {
  it("S20: has clocks that never decrease, independently of each other", () => {
    const ahead = contextOf();
    expect([ahead.tickMs, ahead.wallMs]).to.deep.equal([600, 8_000]);
    const behind = contextOf({ tickMs: 400, wallMs: 6_000 });
    expect([behind.tickMs, behind.wallMs]).to.deep.equal([500, 7_000]);
    const mixed = contextOf({ tickMs: 900, wallMs: 1 });
    expect([mixed.tickMs, mixed.wallMs]).to.deep.equal([900, 7_000]);
  });

  it("ends in the progress after the entry", () => {
    const context = contextOf();
    expect(context.nextRevision()).to.equal(41);
    expect(context.nextRevision()).to.equal(42);
    context.countData(5);
    context.countExpiringKeys(2);
    context.countStoredAnswers(-1);
    context.countLockTimers(3);
    context.countLogs(1);
    context.countEventBytes(-20);
    context.countLogTimers(2);
    context.countLogErasures(-1);
    context.countTotal("keys", 2);
    context.countTotal("memoryBytes", -96);
    context.transaction.delete(Uint8Array.of(1));
    expect(context.progress()).to.deep.equal({
      appliedIndex: 10,
      appliedTerm: 3,
      tickMs: 600,
      wallMs: 8_000,
      revision: 42,
      digest: 79,
      dataBytes: 95,
      expiringKeys: 3,
      storedAnswers: 0,
      lockTimers: 5,
      logs: 4,
      eventBytes: 40,
      logTimers: 6,
      logErasures: 0,
      totals: { keys: 6, lockHolds: 3, lockWaits: 0, memoryRegions: 1, memoryBytes: 4_000, sessions: 0 },
    });
    expect(BEFORE.totals.keys).to.equal(4);
  });

  it("starts with the counts and clocks of the previous entry, and with none of its other fields", () => {
    const context = contextOf();
    const change = { about: "lock", kind: "released", namespace: "n", rw: false, name: "l" } as const;
    const changes = [{ ...change, owner: "", mode: "exclusive", token: 1, reason: "normal" } as const];
    context.watch(changes);
    context.watch(changes);
    context.endWait({
      attempt: context.origin,
      outcome: { answer: { kind: "queued-lock", revision: 1 }, replayed: "no" },
    });
    context.leaderCheckpoint = { index: 1, digest: 2 };
    context.countTotal("keys", 1);
    const { watched, endedWaits: settled } = context;
    context.begin(rowOf({ tickMs: 1, wallMs: 9_000 }, 11));
    expect([context.index, context.term, context.tickMs, context.wallMs]).to.deep.equal([11, 3, 600, 9_000]);
    expect(context.origin).to.deep.equal({ memberId: 1, boot: 2, seq: 11 });
    expect([context.watched, context.endedWaits, context.leaderCheckpoint]).to.deep.equal([[], [], null]);
    context.watch(changes);
    expect([context.watched.length, watched.length, settled.length, changes.length]).to.deep.equal([1, 2, 1, 1]);
    expect(context.progress().totals.keys).to.equal(5);
  });

  it("refuses growth beyond the limit, to the byte, and never refuses without growth", async () => {
    const context = contextOf();
    context.requireQuota(10);
    const error = await refused(() => context.requireQuota(11));
    expect([error.code, error.reason, error.outcome]).to.deep.equal(["RESOURCE_EXHAUSTED", "QUOTA", "not-executed"]);
    const full = contextOf({}, { ...BEFORE, dataBytes: 1_000 });
    full.requireQuota(0);
    full.requireQuota(-1);
    expect((await refused(() => full.requireQuota(1))).reason).to.equal("QUOTA");
  });

  it("counts nothing below zero", () => {
    expect(() => contextOf().countData(-91)).to.throw(InvariantViolation);
    expect(() => contextOf().countExpiringKeys(-2)).to.throw(InvariantViolation);
    expect(() => contextOf().countStoredAnswers(-2)).to.throw(InvariantViolation);
    expect(() => contextOf().countTotal("lockWaits", -1)).to.throw(InvariantViolation);
  });

  it("counts no revision above 2^53 − 1", () => {
    const context = contextOf({}, { ...BEFORE, revision: Number.MAX_SAFE_INTEGER });
    expect(() => context.nextRevision()).to.throw(InvariantViolation);
  });
});
