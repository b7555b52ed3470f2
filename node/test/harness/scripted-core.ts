/**
 * A real consensus core in a chosen role, without a driver: its writes are durable at once, and its messages go
 * nowhere.
 */

import { crc32 } from "node:zlib";
import { invariant } from "../../src/primitives/index.ts";
import { DEFAULT_CORE_LIMITS, type LogReader, NO_CONFIGURATION, RaftCore } from "../../src/raft/index.ts";
import type { MemoryLogStore } from "./memory-log-store.ts";

const FIT = { mayVote: true, mayLead: true, damaged: false, diskFull: false };
/** The core never reads back: all entries stay in its memory. */
const UNREAD: LogReader = {
  term: (index) => invariant(false, "the log stays in memory", () => String(index)) as never,
  entries: (from) => invariant(false, "the log stays in memory", () => String(from)) as never,
};

function newCore(id: number, voters: readonly number[]): RaftCore {
  const core = new RaftCore({
    id,
    boot: 1,
    term: 4,
    vote: 0,
    commit: 0,
    log: { first: 1, prevTerm: 0, last: 0, lastTerm: 0 },
    configuration: { ...NO_CONFIGURATION, voters },
    applied: 0,
    writeSeq: 1,
    limits: DEFAULT_CORE_LIMITS,
    random: () => 0,
    reader: UNREAD,
    checksum: crc32,
  });
  core.setEligibility(FIT);
  return core;
}

/**
 * Lets the core process all its input, with durable writes, in the log if there is one. Returns the index up to which
 * entries may be applied, or 0.
 */
export function drainCore(core: RaftCore, log: MemoryLogStore | null = null): number {
  let applyTo = 0;
  for (let isDone = false; !isDone; ) {
    const { append, apply } = core.drain(true);
    applyTo = apply?.to ?? applyTo;
    isDone = append === null;
    if (append !== null) {
      log?.write(append, () => undefined);
      log?.flush();
      core.onAppendDurable(append.writeSeq);
    }
  }
  return applyTo;
}

/** Member 2 of three in term 5, which follows member 1; with leader 0 it follows none. */
export function followingCore(leader = 1): RaftCore {
  const core = newCore(2, [1, 2, 3]);
  follow(core, leader === 0 ? 3 : leader, 5);
  if (leader === 0) {
    core.step({ type: "vote", from: 1, to: 2, term: 6, lastIndex: 0, lastTerm: 0, transfer: true });
    drainCore(core);
  }
  return core;
}

/** The member follows this leader of the term from now on. */
export function follow(core: RaftCore, leader: number, term: number): void {
  core.step({ type: "heartbeat", from: leader, to: core.id, term, commit: 0, readPosition: 0 });
  drainCore(core);
}

/**
 * Member 1, the leader of term 5: the sole voter, or elected by all others. Alone, it has committed its first entry.
 */
export function leadingCore(log: MemoryLogStore | null = null, voters: readonly number[] = [1]): RaftCore {
  const core = newCore(1, voters);
  const answer = { to: 1, term: 5, granted: true, commit: 0, commitTerm: 0 };
  core.campaign();
  for (const type of ["pre-vote-reply", "vote-reply"] as const) {
    drainCore(core, log);
    for (const from of voters.filter((id) => id !== 1 && core.role !== "leader")) {
      core.step({ type, from, ...answer });
    }
  }
  drainCore(core, log);
  invariant(core.role === "leader" && core.term === 5, "a candidate with all votes is elected");
  return core;
}
