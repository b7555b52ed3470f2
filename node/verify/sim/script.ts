/**
 * The script of a run: everything that is done to a cluster. Each item has a time, and a number from which all of its
 * own decisions follow. So items can be left out without a change to the others' decisions. A written script keeps its
 * meaning when scripts of seeds are drawn differently.
 */

import { DEFAULT_REPLICA_LIMITS, type ReplicaLimits } from "../../src/replica/index.ts";
import {
  CHANGES,
  type ChangeKind,
  drawPlan,
  FAULTS,
  type FaultKind,
  type LockPlan,
  type Plan,
  type RevocationKind,
  STORE_FAULTS,
  type StoreFaultKind,
  type WatchPlan,
} from "./plan.ts";
import { type RandomStream, streamsOf } from "./random.ts";

/** `atMs`: milliseconds after the cluster has grown to its first size. `draw`: the number that decides the details. */
export type ScriptItem = { readonly atMs: number; readonly draw: number } & (
  | { readonly what: "fault"; readonly kind: FaultKind }
  | { readonly what: "change"; readonly kind: ChangeKind }
  | { readonly what: "operation"; readonly client: number }
  /** A fault of the archive's store. */
  | { readonly what: "store"; readonly kind: StoreFaultKind }
  /** A client that uses locks. */
  | { readonly what: "lock"; readonly client: number }
  /** A client that uses semaphores, and locks with values. */
  | { readonly what: "semaphore"; readonly client: number }
  /** A client that uses memory regions. */
  | { readonly what: "memory"; readonly client: number }
  /** A client that uses event logs. */
  | { readonly what: "log"; readonly client: number }
  /** A client that runs transactions. */
  | { readonly what: "transaction"; readonly client: number }
  /** A client that has sessions. */
  | { readonly what: "session"; readonly client: number }
  /** A watcher of keys or, with higher numbers, of locks. */
  | { readonly what: "watch"; readonly client: number }
  /** An administrator takes a credential from the guest. */
  | { readonly what: "revocation"; readonly kind: RevocationKind }
);

export interface Script {
  readonly seed: number;
  readonly plan: Plan;
  /** Ascending by time. */
  readonly items: readonly ScriptItem[];
}

/** The script of a seed. */
export function drawScript(seed: number): Script {
  const { plan: draws, faults, membership, clients, ...others } = streamsOf(seed);
  const plan = drawPlan(draws, others);
  const { durationMs } = plan;
  const items: ScriptItem[] = [];
  for (const kind of FAULTS) {
    for (const atMs of timesOf(faults, plan.faults.get(kind), durationMs)) {
      items.push({ what: "fault", kind, atMs, draw: faults.word() });
    }
  }
  for (const kind of CHANGES) {
    for (const atMs of timesOf(membership, plan.changes.get(kind), durationMs)) {
      items.push({ what: "change", kind, atMs, draw: membership.word() });
    }
  }
  for (let client = 1; client <= plan.clients; client++) {
    for (const atMs of timesOf(clients, plan.pauseMs, durationMs)) {
      items.push({ what: "operation", client, atMs, draw: clients.word() });
    }
  }
  const { watches } = plan;
  const lockWatches = { clients: watches?.lockClients ?? 0, pauseMs: watches?.pauseMs };
  for (const { what, of, random, before } of [
    { what: "lock", of: plan.locks, random: others.locks, before: 0 },
    { what: "semaphore", of: plan.semaphores, random: others.semaphores, before: 0 },
    { what: "memory", of: plan.memory, random: others.memory, before: 0 },
    { what: "log", of: plan.logs, random: others.logs, before: 0 },
    { what: "watch", of: watches, random: others.watches, before: 0 },
    { what: "transaction", of: plan.transactions, random: others.transactions, before: 0 },
    { what: "session", of: plan.sessions, random: others.sessions, before: 0 },
    { what: "watch", of: lockWatches, random: others["lock-watches"], before: watches?.clients ?? 0 },
  ] as const) {
    for (let client = 1; client <= (of?.clients ?? 0); client++) {
      for (const atMs of timesOf(random, of?.pauseMs, durationMs)) {
        items.push({ what, client: before + client, atMs, draw: random.word() });
      }
    }
  }
  for (const kind of STORE_FAULTS) {
    for (const atMs of timesOf(others.archive, plan.archive?.faults.get(kind), durationMs)) {
      items.push({ what: "store", kind, atMs, draw: others.archive.word() });
    }
  }
  for (const kind of plan.accounts?.revocations ?? []) {
    items.push({ what: "revocation", kind, atMs: timeOf(others.accounts, durationMs), draw: others.accounts.word() });
  }
  return { seed, plan, items: items.sort((one, other) => one.atMs - other.atMs) };
}

function timeOf(random: RandomStream, untilMs: number): number {
  return inMicroseconds(random.between(0, untilMs));
}

function timesOf(random: RandomStream, meanMs: number | undefined, untilMs: number): number[] {
  const times: number[] = [];
  if (meanMs !== undefined) {
    for (let atMs = random.exponential(meanMs); atMs < untilMs; atMs += random.exponential(meanMs)) {
      times.push(inMicroseconds(atMs));
    }
  }
  return times;
}

/** Milliseconds with three decimal places. */
function inMicroseconds(atMs: number): number {
  return Math.round(atMs * 1000) / 1000;
}

/** A written script, with the rule that it has broken. */
export interface WrittenScript {
  readonly rule: string;
  /** The mutant of the program that has broken it; null if the program itself did. */
  readonly mutant: string | null;
  readonly script: Script;
}

/** As indented text, in the form of the formatter. */
export function encodeScript({ rule, mutant, script }: WrittenScript): string {
  const { seed, plan, items } = script;
  const [faults, changes] = [Object.fromEntries(plan.faults), Object.fromEntries(plan.changes)];
  const archive = plan.archive && { ...plan.archive, faults: Object.fromEntries(plan.archive.faults) };
  return `${JSON.stringify({ rule, mutant, seed, plan: { ...plan, faults, changes, archive }, items }, null, 2)}\n`;
}

/** The implied values of plans from before these fields existed. */
const FORMER_PLAN: Pick<
  Plan,
  | "isBeyond"
  | "isContended"
  | "readShare"
  | "isBusyAtRest"
  | "locks"
  | "memory"
  | "logs"
  | "transactions"
  | "semaphores"
  | "sessions"
  | "accounts"
  | "archive"
  | "releases"
> = {
  isBeyond: false,
  isContended: false,
  readShare: 0.35,
  isBusyAtRest: false,
  locks: null,
  memory: null,
  logs: null,
  transactions: null,
  semaphores: null,
  sessions: null,
  accounts: null,
  archive: null,
  releases: null,
};

/** The implied values of watch plans from before these fields existed. */
const FORMER_WATCHES: Pick<WatchPlan, "lockClients"> = { lockClients: 0 };

/** The implied values of lock plans from before these fields existed. */
const FORMER_LOCKS: Pick<LockPlan, "semaphores"> = { semaphores: 0 };

/** Limits that did not exist when the script was written have their default values. */
export function decodeScript(text: string): WrittenScript {
  const { rule, mutant, seed, plan, items } = JSON.parse(text);
  const faults = new Map(Object.entries(plan.faults)) as Plan["faults"];
  const changes = new Map(Object.entries(plan.changes)) as Plan["changes"];
  const limits = withDefaults(plan.limits);
  const watches = plan.watches == null ? null : { ...FORMER_WATCHES, ...plan.watches };
  const archive = plan.archive && { ...plan.archive, faults: new Map(Object.entries(plan.archive.faults)) };
  const locks = plan.locks == null ? null : { ...FORMER_LOCKS, ...plan.locks };
  const read = { ...FORMER_PLAN, ...plan, faults, changes, limits, watches, locks, archive: archive ?? null };
  return { rule, mutant, script: { seed, plan: read, items } };
}

function withDefaults(written: ReplicaLimits): ReplicaLimits {
  const usual = DEFAULT_REPLICA_LIMITS;
  return {
    ...usual,
    ...written,
    core: { ...usual.core, ...written.core },
    state: { ...usual.state, ...written.state },
    compaction: { ...usual.compaction, ...written.compaction },
    maintenance: { ...usual.maintenance, ...written.maintenance },
    snapshots: { ...usual.snapshots, ...written.snapshots },
  };
}
