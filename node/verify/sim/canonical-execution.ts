/**
 * Executes the one log again with a state machine of its own, and compares the result with everything that was seen of
 * the log: digests, snapshots, configurations, and the expiry of keys.
 */

import { crc32 } from "node:zlib";
import { type Configuration, changeConfiguration, EntryType, entryPayload, entryType } from "../../src/raft/index.ts";
import {
  CoordinationError,
  decodeCommand,
  getKey,
  type Outcome,
  type Result,
  readProgress,
  type StateLimits,
  StateMachine,
} from "../../src/state/index.ts";
import { replaysTwice, usageTwice } from "../../test/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { CanonicalLog } from "./canonical-log.ts";
import { clusterOf, configurationOf } from "./cluster-record.ts";
import { textOf } from "./key-history.ts";
import { type Ending, KeyLifetimes } from "./key-lifetimes.ts";
import { namespaceOf } from "./key-namespaces.ts";
import { checkNeighbours, type MembershipRules } from "./membership-rules.ts";
import type { Execution } from "./requests.ts";
import { must } from "./rule-violation.ts";
import { fingerprintOf, StateRows } from "./state-rows.ts";

export interface Executed {
  /** First executions, by request ids in hexadecimal digits. */
  readonly executions: ReadonlyMap<string, Execution>;
  /** Entries of requests that were not executed, because their caller was revoked. */
  readonly refused: ReadonlySet<number>;
  /** Expiries of keys. */
  readonly endings: readonly Ending[];
  /** Sum of the rows of the state at the end. */
  readonly fingerprint: number;
}

/** Raises a RuleViolation. */
export function execute(log: CanonicalLog, limits: StateLimits, membership: MembershipRules): Executed {
  const store = new StateRows();
  const machine = new StateMachine(store, (previous, bytes) => crc32(bytes, previous), limits);
  const executions = new Map<string, Execution>();
  const refused = new Set<number>();
  const lifetimes = new KeyLifetimes();
  for (const [at, row] of log.rows.entries()) {
    const index = at + 1;
    const before = configurationOf(store);
    const { revision } = readProgress(store);
    const outcome = machine.apply(row, (entry, change, expectIndex) => {
      return changeConfiguration(before, entry, change, expectIndex);
    });
    machine.commit();
    const after = clusterOf(store);
    if (after !== undefined) {
      membership.onCluster(after);
      if (after.configuration.index !== before.index) {
        checkNeighbours(before, after.configuration);
      }
    }
    if (entryType(row) === EntryType.Command) {
      const { operation, request } = decodeCommand(entryPayload(row));
      if (outcome === null || outcome.replayed === "no") {
        const { tickMs } = readProgress(store);
        const executed = { index, tickMs, revision, operation, answer: outcome?.answer ?? null };
        checkClaim(before, executed.answer, index);
        lifetimes.executed(executed, (key) => hasKey(store, key));
      }
      if (isRevocation(outcome?.answer)) {
        refused.add(index);
      } else if (outcome !== null && request !== null) {
        noteExecution(executions, request.requestId.toHex(), outcome, index, operation.kind === "acquire-lock");
      }
    }
    checkState(log, index, machine.progress.digest, store);
  }
  checkUsage(store);
  checkStoredAnswers(store);
  return { executions, refused, endings: lifetimes.endings, fingerprint: fingerprintOf(store.all()) };
}

/** The usage counts of namespaces match their contents. */
function checkUsage(store: StateRows): void {
  const { stored, counted } = usageTwice(store);
  const [said, there] = [JSON.stringify(stored), JSON.stringify(counted)];
  must(said === there, "quotas count what namespaces have", () => `${said} instead of ${there}`);
}

/** The counts of the generations of stored answers match their contents. */
function checkStoredAnswers(store: StateRows): void {
  const { stored, counted } = replaysTwice(store);
  const [said, there] = [JSON.stringify(stored), JSON.stringify(counted)];
  must(said === there, "generations hold the answers that are counted", () => `${said} instead of ${there}`);
  const { storedAnswers } = readProgress(store);
  const count = counted.reduce((sum, [, totals]) => sum + totals.count, 0);
  must(storedAnswers === count, "all stored answers are counted", () => `${storedAnswers} instead of ${count}`);
}

/**
 * A process that asks for a slot has an empty directory, whatever it says about itself. So it must not get the slot of
 * a voter.
 */
function checkClaim(
  { voters, outgoing }: Configuration,
  answer: Result | CoordinationError | null,
  index: number,
): void {
  const isGiven = answer !== null && "kind" in answer && answer.kind === "claim-slot" && answer.verdict === "accepted";
  const isOfVoter = isGiven && (voters.includes(answer.memberId) || outgoing.includes(answer.memberId));
  must(!isOfVoter, "I17 the slot of a voter is not given to an empty directory", () => `entry ${index}`);
}

function noteExecution(
  executions: Map<string, Execution>,
  requestId: string,
  { answer, replayed }: Outcome,
  index: number,
  mayGoOn: boolean,
): void {
  const isRepeated = executions.has(requestId);
  // A request for a lock goes on with each attempt. Rules of its own check the result.
  must(mayGoOn || isRepeated === (replayed !== "no"), "a request is executed once", () => {
    return `${requestId.slice(0, 8)} at ${index}`;
  });
  if (!isRepeated) {
    executions.set(requestId, { index, answer });
  }
}

function checkState(log: CanonicalLog, index: number, digest: number, store: StateRows): void {
  const seen = log.digestAt(index);
  must(seen === undefined || seen === digest, "I9 states are those of the log", () => `entry ${index}`);
  const sum = log.snapshots.get(index);
  must(sum === undefined || sum === fingerprintOf(store.all()), "I20 a snapshot is the state of the log", () => {
    return `entry ${index}`;
  });
}

function hasKey(store: StateRows, key: Uint8Array): boolean {
  try {
    getKey(store, namespaceOf(textOf(key)), key);
    return true;
  } catch (error) {
    if (error instanceof CoordinationError && error.reason === "KEY_NOT_FOUND") {
      return false;
    }
    throw error;
  }
}
