/** What the operator remembers of one cluster from pass to pass. All of it may be lost: that costs time, never safety. */
import type { Attempts, Refusal } from "../plan/index.ts";
import type { Problem } from "../status/index.ts";

export interface Memory {
  attempts: Attempts;
  /** Uids of pods whose process was seen started. */
  readonly started: Set<string>;
  leaderlessSince: number | null;
  /** What the last look at the objects around the pods found; null = it is time to look again. */
  support: SupportLook | null;
  /** What the API server said of the pods that are wanted, by the digest of their template. */
  trial: { readonly hash: string; readonly at: number; readonly refusal: Refusal | null } | null;
}

export interface SupportLook {
  /** Digest of what was wanted. */
  readonly digest: string;
  readonly at: number;
  readonly refusal: Refusal | null;
  readonly monitoringProblem: Problem | null;
}

export function emptyMemory(): Memory {
  return {
    attempts: { failedTransfers: 0, refusedEviction: null, handover: null },
    started: new Set(),
    leaderlessSince: null,
    support: null,
    trial: null,
  };
}
