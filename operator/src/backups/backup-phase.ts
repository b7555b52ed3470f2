/** How a CoordinationBackup stands: what of its status stays the same while it goes on. */
import type { BackupStatus, CoordinationBackup } from "../generated/coordination-backup.ts";
import type { BackupReport, BackupRunReport, StoredBackup } from "../members/index.ts";
import { clipped, conditionsOf, timeText, type Verdict } from "./object-status.ts";

export function isFinal({ status }: CoordinationBackup): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Why it is where it is, and what people can do about it. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  /** Whether the member that takes the backup answers; absent while there is none. */
  readonly isReachable?: boolean;
}

type Facts = Omit<BackupStatus, "conditions" | "observedGeneration" | "phase">;

/** @returns the whole status; what `facts` does not name is gone */
export function statusOf(
  backup: CoordinationBackup,
  phase: NonNullable<BackupStatus["phase"]>,
  facts: Facts,
  { reason, message, isReachable }: Cause,
  now: number,
): BackupStatus {
  const isEnded = phase === "Succeeded" || phase === "Failed";
  const verdicts: Verdict[] = [
    { type: "Complete", status: phase === "Succeeded" ? "True" : "False", reason, message },
    { type: "Failed", status: phase === "Failed" ? "True" : "False", reason, message },
    ...(isReachable === undefined || isEnded
      ? []
      : [{ type: "MemberReachable", status: isReachable ? "True" : "False", reason, message } as const]),
  ];
  return {
    ...facts,
    observedGeneration: backup.metadata.generation ?? 0,
    phase,
    ...(phase === "Failed" ? { error: clipped(message) } : {}),
    conditions: conditionsOf(backup, verdicts, now),
  };
}

/** What stays of the status before. */
export function factsOf({ status }: CoordinationBackup): Facts {
  const { conditions: _conditions, observedGeneration: _generation, phase: _phase, ...facts } = status ?? {};
  return facts;
}

/** What a member knows of the backup that it takes. */
export function factsOfRun({ encrypted, store }: BackupReport, run: BackupRunReport): Facts {
  return {
    ...{ store, encrypted, leaderless: run.leaderless },
    ...stateOf(run),
    ...(run.startedMs === 0 ? {} : { startedAt: timeText(run.startedMs) }),
    ...(run.endedMs === 0 ? {} : { completedAt: timeText(run.endedMs) }),
  };
}

/** Of a backup that a store holds, although no member remembers it. */
export function stateOf({ object, index, revision, wallMs, bytes }: Omit<StoredBackup, "id">): Facts {
  return {
    ...(object === "" ? {} : { object }),
    ...(index === 0 ? {} : { index, revision }),
    ...(wallMs === 0 ? {} : { wallTime: timeText(wallMs) }),
    sizeBytes: bytes,
  };
}
