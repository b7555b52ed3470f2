/**
 * One pass over a CoordinationBackupSchedule: it creates the CoordinationBackup that is due, deletes old ones, and
 * writes the status. The name of a backup follows from the time of its run, so each run happens once, however often an
 * operator crashes.
 */
import type { CoordinationBackup } from "../generated/coordination-backup.ts";
import type { CoordinationBackupSchedule, ScheduleStatus } from "../generated/coordination-backup-schedule.ts";
import { isKubeError } from "../kube/index.ts";
import { preconditionOf } from "../observe/index.ts";
import { timeText } from "../status/index.ts";
import { isFinal } from "./backup-phase.ts";
import { type BackupsContext, RETRY_MS } from "./context.ts";
import { conditionsOf, type Verdict, writeStatus } from "./object-status.ts";
import { type ScheduleTimes, timesOf } from "./schedule-times.ts";

export const SCHEDULE_LABEL = "quoin.dev/backup-schedule";
const SCHEDULED_AT = "quoin.dev/scheduled-at";
const KIND = "CoordinationBackupSchedule";
const MINUTE_MS = 60_000;
/** Between passes while a run waits for an earlier backup. The end of that backup also triggers a pass. */
const WAITING_MS = 30_000;
/** Longest pause between passes: someone may set the clock, and a time zone may change. */
const REQUEUE_MS_MAX = 3_600_000;

interface Runs {
  /** Backups of the schedule, newest first. */
  readonly backups: readonly CoordinationBackup[];
  readonly active: CoordinationBackup | null;
  /** Time of the last run that took place or was skipped, in milliseconds since 1970. */
  readonly lastMs: number;
  readonly lastSuccess: string | undefined;
}

export class ScheduleReconciler {
  readonly #context: BackupsContext;

  constructor(context: BackupsContext) {
    this.#context = context;
  }

  /**
   * @returns milliseconds until the next pass; null = not before the schedule changes
   * @throws KubeError
   */
  async reconcile(namespace: string, name: string): Promise<number | null> {
    const { client, now } = this.#context;
    const schedule = await client.get<CoordinationBackupSchedule>({ kind: KIND, namespace, name });
    if (schedule === null || schedule.metadata.deletionTimestamp !== undefined) {
      return null;
    }
    const runs = await this.#runsOf(schedule);
    const times = timesOf(schedule.spec);
    if (typeof times === "string") {
      const verdict = { type: "Ready", status: "False", reason: "ScheduleMalformed", message: times } as const;
      return (await this.#report(schedule, runs, verdict, null)) ? null : RETRY_MS;
    }
    const at = now();
    const due = times.latest(runs.lastMs, at);
    const made = due === null ? null : await this.#run(schedule, runs, due);
    if (made === "stale") {
      return RETRY_MS;
    }
    const lastMs = due === null || made === "waits" ? runs.lastMs : due;
    const nextMs = times.next(at);
    const after = made !== null && typeof made === "object" ? { ...runs, active: made } : runs;
    if (!(await this.#report(schedule, { ...after, lastMs }, verdictOf(schedule, made), nextMs))) {
      return RETRY_MS;
    }
    // Only after the status is written: the backups that this deletes show which run was the last one.
    await this.#tidy(schedule, runs.backups);
    return pauseOf(times, at, made === "waits");
  }

  async #runsOf({ metadata, status }: CoordinationBackupSchedule): Promise<Runs> {
    const { name, namespace = "", uid, creationTimestamp = "" } = metadata;
    const { items } = await this.#context.client.list<CoordinationBackup>(
      "CoordinationBackup",
      namespace,
      `${SCHEDULE_LABEL}=${name}`,
    );
    const backups = items.filter((backup) => isOwnedBy(backup, uid)).toSorted((a, b) => runMsOf(b) - runMsOf(a));
    const known = [status?.lastScheduleTime, creationTimestamp].map((text) => Date.parse(text ?? ""));
    const successes = [
      status?.lastSuccessfulTime,
      ...backups.filter(hasSucceeded).map((each) => each.status?.completedAt),
    ];
    return {
      backups,
      active: backups.find((backup) => !isFinal(backup)) ?? null,
      lastMs: Math.max(0, ...[...known, ...backups.map(runMsOf)].filter((time) => !Number.isNaN(time))),
      lastSuccess: successes
        .filter((time) => time !== undefined)
        .toSorted()
        .at(-1),
    };
  }

  /** @returns the backup that was created; null if the run is skipped */
  async #run(
    schedule: CoordinationBackupSchedule,
    { active }: Runs,
    dueMs: number,
  ): Promise<CoordinationBackup | null | "waits" | "stale" | "taken"> {
    const { client, mayWrite, event } = this.#context;
    if (schedule.spec.suspend) {
      return null;
    }
    if (active !== null) {
      return "waits";
    }
    if (!mayWrite()) {
      return "stale";
    }
    const wanted = backupOf(schedule, dueMs);
    const { namespace = "", name } = wanted.metadata;
    try {
      const made = await client.create<CoordinationBackup>({ kind: "CoordinationBackup", namespace }, wanted);
      event(schedule, { type: "Normal", reason: "BackupCreated", action: "Create", note: `created ${name}` });
      return made;
    } catch (error) {
      if (!isKubeError(error, "exists")) {
        throw error;
      }
      // The list contains backups of this schedule, except one that was created a moment ago.
      const found = await client.get<CoordinationBackup>({ kind: "CoordinationBackup", namespace, name });
      return found === null || isOwnedBy(found, schedule.metadata.uid) ? "stale" : "taken";
    }
  }

  #report(
    schedule: CoordinationBackupSchedule,
    { active, lastMs, lastSuccess }: Runs,
    verdict: Verdict,
    nextMs: number | null,
  ): Promise<boolean> {
    const hasRun = lastMs > Date.parse(schedule.metadata.creationTimestamp ?? "");
    const status: ScheduleStatus = {
      observedGeneration: schedule.metadata.generation ?? 0,
      ...(active === null ? {} : { active: active.metadata.name }),
      ...(hasRun ? { lastScheduleTime: timeText(lastMs) } : {}),
      ...(nextMs === null || schedule.spec.suspend ? {} : { nextScheduleTime: timeText(nextMs) }),
      ...(lastSuccess === undefined ? {} : { lastSuccessfulTime: lastSuccess }),
      conditions: conditionsOf(schedule, [verdict], this.#context.now()),
    };
    return writeStatus(this.#context, KIND, schedule, status);
  }

  async #tidy({ spec }: CoordinationBackupSchedule, backups: readonly CoordinationBackup[]): Promise<void> {
    const finished = backups.filter(isFinal);
    const surplus = [
      ...finished.filter(hasSucceeded).slice(spec.successfulHistoryLimit),
      ...finished.filter((backup) => !hasSucceeded(backup)).slice(spec.failedHistoryLimit),
    ];
    for (const backup of surplus) {
      const { name, namespace = "" } = backup.metadata;
      if (!this.#context.mayWrite()) {
        return;
      }
      try {
        await this.#context.client.remove({ kind: "CoordinationBackup", namespace, name }, preconditionOf(backup));
      } catch (error) {
        if (!isKubeError(error, "conflict", "missing")) {
          throw error;
        }
      }
    }
  }
}

function verdictOf({ spec }: CoordinationBackupSchedule, made: CoordinationBackup | null | "waits" | "taken"): Verdict {
  if (spec.suspend) {
    return { type: "Ready", status: "False", reason: "Suspended", message: "suspended until spec.suspend is false" };
  }
  if (made === "taken") {
    const message = "another CoordinationBackup already has the name of the last run: rename the schedule";
    return { type: "Ready", status: "False", reason: "NameConflict", message };
  }
  return made === "waits"
    ? { type: "Ready", status: "True", reason: "Waiting", message: "a run waits until the previous backup has ended" }
    : { type: "Ready", status: "True", reason: "Scheduled", message: "backups are taken on schedule" };
}

function pauseOf(times: ScheduleTimes, atMs: number, isWaiting: boolean): number | null {
  const nextMs = times.next(atMs);
  if (isWaiting) {
    return WAITING_MS;
  }
  return nextMs === null ? null : Math.min(REQUEUE_MS_MAX, Math.max(1, nextMs - atMs));
}

function backupOf({ apiVersion, metadata, spec }: CoordinationBackupSchedule, dueMs: number): CoordinationBackup {
  const { name, namespace = "", uid = "" } = metadata;
  const owner = { apiVersion, kind: KIND, name, uid, controller: true, blockOwnerDeletion: false };
  // The type of the resource, which is made from its definition, has no owners.
  const named = {
    name: `${name}-${Math.floor(dueMs / MINUTE_MS)}`,
    namespace,
    labels: { [SCHEDULE_LABEL]: name },
    annotations: { [SCHEDULED_AT]: timeText(dueMs) },
    ownerReferences: [owner],
  };
  return {
    apiVersion,
    kind: "CoordinationBackup",
    metadata: named,
    spec: { clusterName: spec.clusterName, allowLeaderless: false },
  };
}

function isOwnedBy({ metadata }: CoordinationBackup, uid: string | undefined): boolean {
  const { ownerReferences = [] } = metadata as { ownerReferences?: readonly { readonly uid: string }[] };
  return ownerReferences.some((owner) => owner.uid === uid);
}

/** The scheduled time of the backup; NaN if the backup does not name it. */
function runMsOf({ metadata }: CoordinationBackup): number {
  return Date.parse(metadata.annotations?.[SCHEDULED_AT] ?? metadata.creationTimestamp ?? "");
}

function hasSucceeded({ status }: CoordinationBackup): boolean {
  return status?.phase === "Succeeded";
}
