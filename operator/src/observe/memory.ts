/** What the operator remembers of one cluster from pass to pass. All of it may be lost: that costs time, never safety. */

import type { Attempts, Obstacle, Refusal } from "../plan/index.ts";
import type { BackupAnswers } from "./backup-look.ts";

export interface Memory {
  attempts: Attempts;
  /** Uids of pods whose process was seen started. */
  readonly started: Set<string>;
  leaderlessSince: number | null;
  /** The last look at the objects around the pods, if it found nothing to do and nothing in the way; null = look again. */
  support: SupportLook | null;
  /** What the API server said of the set that is asked for, and of the accepted one, in place of the one that there was. */
  readonly trials: Map<"asked" | "accepted", Trial>;
  /** Parts of objects, by kind and name, that are as they are wanted in the API server's own spelling. */
  readonly spelled: Map<string, string>;
  /** When changes by others were undone last, by kind and name, and how often in a row. */
  readonly undone: Map<string, Undone>;
  /** Since when this operator has seen pods and volumes missing, by key. */
  missingSince: ReadonlyMap<string, number>;
  /** Null while nothing has been missing for long. */
  causes: Causes | null;
  /** What members said last about backups; null while the cluster has none. */
  backups: BackupAnswers | null;
}

/** Why pods and volumes are missing, as events said it. */
export interface Causes {
  readonly at: number;
  /** What was missing. */
  readonly of: string;
  readonly found: ReadonlyMap<string, Obstacle>;
}

export interface Trial {
  /** Digest of what is wanted and of what there was. */
  readonly key: string;
  readonly at: number;
  readonly refusal: Refusal | null;
  /** Whether it would change anything. */
  readonly isSame: boolean;
  /** How long it is good for, in milliseconds from `at`; 0 if the API server could not tell. */
  readonly validMs: number;
}

export interface Undone {
  readonly at: number;
  readonly count: number;
}

export interface SupportLook {
  /** Digest of what was wanted. */
  readonly digest: string;
  readonly at: number;
}

export function emptyMemory(): Memory {
  return {
    attempts: { failedTransfers: 0, refusedEviction: null, handover: null },
    started: new Set(),
    leaderlessSince: null,
    support: null,
    trials: new Map(),
    spelled: new Map(),
    undone: new Map(),
    missingSince: new Map(),
    causes: null,
    backups: null,
  };
}
