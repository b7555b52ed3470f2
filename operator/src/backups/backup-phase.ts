/** The status of a CoordinationBackup, and which parts of it stay the same while the backup runs. */
import type { BackupStatus, CoordinationBackup } from "../generated/coordination-backup.ts";
import type { BackupReport, BackupRunReport, StoredBackup } from "../members/index.ts";
import { clipped, timeText } from "../status/index.ts";
import { conditionsOf, type Verdict } from "./object-status.ts";

export function isFinal({ status }: CoordinationBackup): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Why the backup is in its phase, and what a person can do about it. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  /** Whether the member that takes the backup answers; absent if no member takes it. */
  readonly isReachable?: boolean;
}

type Facts = Omit<BackupStatus, "conditions" | "observedGeneration" | "phase">;

/** @returns the whole status; it drops every fact that is not in `facts` */
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

/** The facts in the present status. */
export function factsOf({ status }: CoordinationBackup): Facts {
  const { conditions: _conditions, observedGeneration: _generation, phase: _phase, ...facts } = status ?? {};
  return facts;
}

/** Facts that a member reports of the backup that it takes. */
export function factsOfRun({ encrypted, store }: BackupReport, run: BackupRunReport): Facts {
  return {
    store,
    encrypted,
    leaderless: run.leaderless,
    ...stateOf(run),
    ...(run.startedMs === 0 ? {} : { startedAt: timeText(run.startedMs) }),
    ...(run.endedMs === 0 ? {} : { completedAt: timeText(run.endedMs) }),
  };
}

/** Facts of a backup in the store that no member remembers. */
export function stateOf({ object, index, revision, wallMs, bytes }: Omit<StoredBackup, "id">): Facts {
  return {
    ...(object === "" ? {} : { object }),
    ...(index === 0 ? {} : { index, revision }),
    ...(wallMs === 0 ? {} : { wallTime: timeText(wallMs) }),
    sizeBytes: bytes,
  };
}
