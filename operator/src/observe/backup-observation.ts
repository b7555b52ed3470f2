/**
 * State of a cluster's backups, as its members report it. Asks members every ten seconds at most. A member that does
 * not answer is left out, so it never delays a pass.
 */
import type { BackupReport, MemberAddress, MemberClient } from "../members/index.ts";
import type { CoordinationCluster, MemberReport } from "../plan/index.ts";
import { durationMsOf } from "../render/index.ts";
import type { BackupView } from "../status/index.ts";
import type { BackupAnswers, Memory } from "./memory.ts";
import type { Reading } from "./reader.ts";

const QUERY_INTERVAL_MS = 10_000;

export interface BackupObservationContext {
  readonly members: MemberClient;
  readonly cluster: CoordinationCluster;
  readonly reading: Reading;
  readonly addresses: ReadonlyMap<number, MemberAddress>;
  readonly reports: ReadonlyMap<number, MemberReport>;
  readonly memory: Memory;
  readonly now: number;
  /** Called for members that did not answer. */
  readonly onSilent: (error: unknown) => void;
}

/** @returns null for a cluster without backups */
export async function observeBackups(context: BackupObservationContext): Promise<BackupView | null> {
  const { cluster, reading, memory, now } = context;
  const { backup } = cluster.spec;
  if (backup === undefined) {
    memory.backups = null;
    return null;
  }
  const before = memory.backups;
  const answers =
    before !== null && now - before.at < QUERY_INTERVAL_MS ? before : { at: now, ...(await askAll(context)) };
  memory.backups = answers;
  return {
    storeProblem: reading.backupStore?.problem ?? null,
    archives: backup.archive,
    intervalMs: durationMsOf(backup.interval),
    answered: answers.reports.length,
    withoutStore: answers.reports.filter(({ store }) => store === "").length,
    ...summaryOf(answers.reports, answers.archiving),
  };
}

async function askAll({
  members,
  addresses,
  reports,
  onSilent,
}: BackupObservationContext): Promise<Pick<BackupAnswers, "reports" | "archiving">> {
  const asked = [...addresses].filter(([ordinal]) => reports.get(ordinal)?.state === "RUNNING");
  const answers = await Promise.all(
    asked.map(async ([ordinal, address]) => {
      try {
        return { memberId: reports.get(ordinal)?.memberId, report: await members.backups(address, "") };
      } catch (error) {
        onSilent(error);
        return null;
      }
    }),
  );
  const found = answers.filter((answer) => answer !== null);
  const archiving = found.find(({ memberId, report }) => report.archive?.archiverId === String(memberId));
  return { reports: found.map(({ report }) => report), archiving: archiving?.report ?? null };
}

type Summary = Pick<BackupView, "store" | "encrypted" | "archive" | "lastSuccessMs" | "lastFailure">;

function summaryOf(reports: readonly BackupReport[], archiving: BackupReport | null): Summary {
  const withStore = reports.find(({ store }) => store !== "");
  const furthest = reports
    .flatMap(({ archive }) => archive ?? [])
    .toSorted((a, b) => b.index - a.index || b.lastSuccessMs - a.lastSuccessMs)[0];
  const archive = archiving?.archive ?? furthest ?? null;
  const runs = reports.flatMap(({ run }) => run ?? []).toSorted((a, b) => b.endedMs - a.endedMs);
  const [last] = runs;
  const successes = runs.filter(({ phase }) => phase === "Succeeded").map(({ endedMs }) => endedMs);
  return {
    store: withStore?.store ?? null,
    encrypted: withStore?.encrypted ?? null,
    archive,
    lastSuccessMs: Math.max(0, archive?.lastSuccessMs ?? 0, ...successes),
    lastFailure: last?.phase === "Failed" ? last.error : null,
  };
}
