/**
 * Backups of the members of a world: each process knows its own backups since it started, and all share one store. A
 * backup ends when a spec says so, or with its process, and then leaves nothing.
 */
import { BackupPhase } from "@quoin/proto";
import type { Any } from "../api-server/index.ts";
import { MemberRefusal } from "./quorum.ts";

export interface WorldRun {
  readonly id: string;
  readonly podUid: string;
  readonly requestId: string;
  phase: BackupPhase;
  error: string;
}

export class MemberBackups {
  readonly #now: () => number;
  readonly runs: WorldRun[] = [];
  /** Ids of the backups in the store. */
  readonly stored = new Set<string>();
  /** The refusal of StartBackup; null = StartBackup succeeds. */
  refusal: MemberRefusal | null = null;
  /** Every member's report about the archive. */
  archive: Any = { enabled: false };
  /** Every member's report about its store; undefined = the value of its flag. */
  location: string | undefined;
  /** Whether the store answers. */
  isStoreUp = true;

  constructor(now: () => number) {
    this.#now = now;
  }

  start(podUid: string, requestId: string, { ifStore }: Any, location: string): object {
    const known = this.runs.find((run) => run.podUid === podUid && run.requestId === requestId);
    if (known !== undefined) {
      return { id: known.id };
    }
    if (this.refusal !== null) {
      throw this.refusal;
    }
    if (location === "" || (ifStore !== "" && ifStore !== location)) {
      throw new MemberRefusal("FAILED_PRECONDITION", location === "" ? "NO_BACKUP_STORE" : "OTHER_BACKUP_STORE");
    }
    const id = (this.runs.length + 1).toString(16).padStart(32, "0");
    this.runs.push({ id, podUid, requestId, phase: BackupPhase.BACKUP_RUNNING, error: "" });
    return { id };
  }

  status(podUid: string, { id }: Any, location: string): object {
    const own = this.runs.filter((run) => run.podUid === podUid);
    const run = id === "" ? own.at(-1) : own.find((each) => each.id === id);
    return {
      store: location,
      encrypted: true,
      nextSnapshotMs: 0n,
      verifiedMs: 0n,
      damageFoundMs: 0n,
      damagedObjects: [],
      run: run && this.#messageOf(run),
      archive: archiveMessageOf(this.archive),
    };
  }

  list(): object {
    if (!this.isStoreUp) {
      throw new MemberRefusal("UNAVAILABLE", "BACKUP_STORE_UNAVAILABLE");
    }
    const none = { segments: 0n, segmentBytes: 0n, endIndex: 0n, endRevision: 0n, endWallMs: 0n };
    const backups = [...this.stored].map((id) => ({
      id,
      object: `${id}.qsnap`,
      index: 9n,
      revision: 7n,
      wallMs: BigInt(this.#now()),
      sizeBytes: 99n,
      ...none,
    }));
    return { store: "", clusterId: "", backups, problems: [], clusterIds: [] };
  }

  succeed(): void {
    for (const run of this.#running) {
      run.phase = BackupPhase.BACKUP_SUCCEEDED;
      this.stored.add(run.id);
    }
  }

  fail(error: string): void {
    for (const run of this.#running) {
      run.phase = BackupPhase.BACKUP_FAILED;
      run.error = error;
    }
  }

  /** A process restarts, and forgets its backups. */
  restart(podUid: string): void {
    const others = this.runs.filter((run) => run.podUid !== podUid);
    this.runs.splice(0, this.runs.length, ...others);
  }

  get #running(): WorldRun[] {
    return this.runs.filter(({ phase }) => phase === BackupPhase.BACKUP_RUNNING);
  }

  #messageOf({ id, phase, error }: WorldRun): object {
    const isEnded = phase !== BackupPhase.BACKUP_RUNNING;
    const now = BigInt(this.#now());
    const state = { object: `${id}.qsnap`, index: 9n, revision: 7n, wallMs: now, bytes: 99n, rows: 3n };
    return { id, phase, error, ...state, startedMs: now, endedMs: isEnded ? now : 0n, leaderless: false };
  }
}

function archiveMessageOf(archive: Any): object {
  const numbers = ["archivedIndex", "archivedRevision", "archivedWallMs", "lagMs", "chainIndex", "chainBreaks"];
  const given = Object.fromEntries(
    [...numbers, "lastSuccessMs", "failures"].map((name) => [name, BigInt(archive[name] ?? 0)]),
  );
  const { enabled = false, archiverId = "", chainBroken = false, lastError = "" } = archive;
  return { enabled, archiverId, chainBroken, lastError, ...given };
}
