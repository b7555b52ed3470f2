/** What the operator remembers of one cluster from pass to pass. Losing it costs time, never safety. */

import type { BackupReport } from "../members/index.ts";
import type { Attempts, Obstacle, Refusal } from "../plan/index.ts";

export interface Memory {
  attempts: Attempts;
  /** UIDs of pods whose process was once seen started. */
  readonly started: Set<string>;
  leaderlessSince: number | null;
  /** Result of the last look at the owned objects, if it found no difference and no obstacle; null = look again. */
  ownedObjects: OwnedObjectsCheck | null;
  /** The API server's answers to dry runs of the asked set and of the accepted set. */
  readonly dryRuns: Map<"asked" | "accepted", DryRun>;
  /** Parts of objects, by kind and name, that match what is wanted, in the API server's own spelling. */
  readonly spelled: Map<string, string>;
  /** When changes of others were last undone, by kind and name, and how often in a row. */
  readonly undone: Map<string, Undone>;
  /** Since when this operator has seen pods and volumes missing, by key. */
  missingSince: ReadonlyMap<string, number>;
  /** Null while nothing has been missing for long. */
  causes: Causes | null;
  /** The members' last answers about backups; null if the cluster has none. */
  backups: BackupAnswers | null;
}

export interface BackupAnswers {
  readonly at: number;
  readonly reports: readonly BackupReport[];
  /** The report of the member that archives. */
  readonly archiving: BackupReport | null;
}

/** Why pods and volumes are missing, according to events. */
export interface Causes {
  readonly at: number;
  /** The missing objects. */
  readonly of: string;
  readonly found: ReadonlyMap<string, Obstacle>;
}

export interface DryRun {
  /** Digest of the wanted set and the existing one. */
  readonly key: string;
  readonly at: number;
  readonly refusal: Refusal | null;
  /** Whether the dry run changes nothing. */
  readonly isSame: boolean;
  /** How long the result is valid, in milliseconds from `at`; 0 if the API server gave no verdict. */
  readonly validMs: number;
}

export interface Undone {
  readonly at: number;
  readonly count: number;
}

export interface OwnedObjectsCheck {
  /** Digest of the wanted object. */
  readonly digest: string;
  readonly at: number;
}

export function emptyMemory(): Memory {
  return {
    attempts: { failedTransfers: 0, refusedEviction: null, handover: null },
    started: new Set(),
    leaderlessSince: null,
    ownedObjects: null,
    dryRuns: new Map(),
    spelled: new Map(),
    undone: new Map(),
    missingSince: new Map(),
    causes: null,
    backups: null,
  };
}
