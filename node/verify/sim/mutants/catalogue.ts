/** All mutants. */

import { ACCOUNT_MUTANTS } from "./accounts.ts";
import { ARCHIVE_MUTANTS } from "./archive.ts";
import { EDGE_MUTANTS } from "./edge.ts";
import { LOCK_MUTANTS } from "./locks.ts";
import { EVENT_LOG_MUTANTS } from "./logs.ts";
import { MEMORY_MUTANTS } from "./memory.ts";
import type { Mutant } from "./mutant.ts";
import { NAMESPACE_MUTANTS } from "./namespaces.ts";
import { PEER_MUTANTS } from "./peers.ts";
import { ELECTION_MUTANTS } from "./raft-elections.ts";
import { LEADERSHIP_MUTANTS } from "./raft-leadership.ts";
import { LOG_MUTANTS } from "./raft-log.ts";
import { REPLICA_MUTANTS } from "./replica.ts";
import { RESTORE_MUTANTS } from "./restore.ts";
import { SESSION_MUTANTS } from "./sessions.ts";
import { STATE_MUTANTS } from "./state.ts";
import { STORAGE_MUTANTS } from "./storage.ts";
import { TELEMETRY_MUTANTS } from "./telemetry.ts";
import { TRANSACTION_MUTANTS } from "./transactions.ts";
import { WATCH_MUTANTS } from "./watches.ts";

export const MUTANTS: readonly Mutant[] = [
  ...ELECTION_MUTANTS,
  ...LOG_MUTANTS,
  ...LEADERSHIP_MUTANTS,
  ...STORAGE_MUTANTS,
  ...REPLICA_MUTANTS,
  ...STATE_MUTANTS,
  ...LOCK_MUTANTS,
  ...MEMORY_MUTANTS,
  ...EVENT_LOG_MUTANTS,
  ...WATCH_MUTANTS,
  ...TRANSACTION_MUTANTS,
  ...NAMESPACE_MUTANTS,
  ...SESSION_MUTANTS,
  ...TELEMETRY_MUTANTS,
  ...PEER_MUTANTS,
  ...ACCOUNT_MUTANTS,
  ...EDGE_MUTANTS,
  ...ARCHIVE_MUTANTS,
  ...RESTORE_MUTANTS,
];

/** Throws an Error if no mutant has the name. */
export function mutantNamed(name: string): Mutant {
  const mutant = MUTANTS.find((one) => one.name === name);
  if (mutant === undefined) {
    throw new Error(`there is no mutant named "${name}"`);
  }
  return mutant;
}
