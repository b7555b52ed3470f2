/**
 * One pass over a CoordinationBackup. A backup is taken once: Pending → Starting → Running → Succeeded or Failed.
 *
 * The operator writes the chosen member into the status before it sends the request, and the request carries the uid of
 * the object. So after a crash at any point, the operator sends the same request to the same process, and gets the same
 * backup. It chooses another member only if that process is gone and its backup is not in the store. It never changes a
 * backup that has ended.
 */
import type { BackupStatus, CoordinationBackup } from "../generated/coordination-backup.ts";
import { type BackupReport, type BackupRunReport, MemberError, type StoredBackup } from "../members/index.ts";
import { timeText } from "../status/index.ts";
import { type BackupMember, backupMembersOf, chooseMember, ignoreMemberError } from "./backup-members.ts";
import { type Cause, factsOf, factsOfRun, isFinal, stateOf, statusOf } from "./backup-phase.ts";
import { type BackupsContext, RETRY_MS } from "./context.ts";
import { writeStatus } from "./object-status.ts";
import { SCHEDULE_LABEL } from "./schedule-reconciler.ts";

const KIND = "CoordinationBackup";
/** Time limit for beginning a backup, and for a member that takes one and does not answer. */
const TIME_LIMIT_MS = 600_000;
const WAIT_MS = 5_000;
const FOLLOW_MS = 3_000;
/** Refusals after which no backup has begun: retry with another member, or later with the same one. */
const NOT_BEGUN: ReadonlySet<string> = new Set([
  "NO_BACKUP_STORE",
  "OTHER_BACKUP_STORE",
  "BACKUP_IN_PROGRESS",
  "NO_LEADER",
]);
const NEXT_STEP = "create another CoordinationBackup to try again";

export class BackupReconciler {
  readonly #context: BackupsContext;

  constructor(context: BackupsContext) {
    this.#context = context;
  }

  /**
   * @returns milliseconds until the next pass; null if nothing is left to do
   * @throws KubeError
   */
  async reconcile(namespace: string, name: string): Promise<number | null> {
    const backup = await this.#context.client.get<CoordinationBackup>({ kind: KIND, namespace, name });
    if (backup === null || backup.metadata.deletionTimestamp !== undefined || isFinal(backup)) {
      return null;
    }
    if (!this.#context.mayWrite()) {
      return RETRY_MS;
    }
    const site = await backupMembersOf(this.#context, backup);
    if (!("length" in site)) {
      return await this.#wait(backup, backup.status?.phase === "Running" ? { ...site, isReachable: false } : site);
    }
    switch (backup.status?.phase) {
      case "Starting":
        return await this.#start(backup, site);
      case "Running":
        return await this.#follow(backup, site);
      default:
        return await this.#choose(backup, site);
    }
  }

  async #choose(backup: CoordinationBackup, site: readonly BackupMember[]): Promise<number | null> {
    const found = await chooseMember(this.#context, site);
    if (!("member" in found)) {
      return await this.#wait(backup, found);
    }
    const { member, report } = found;
    const facts = { member: member.name, memberUid: member.uid, store: report.store, encrypted: report.encrypted };
    const cause = { reason: "MemberChosen", message: `${member.name} was chosen to take the backup` };
    return (await this.#write(backup, "Starting", facts, cause)) ? 0 : RETRY_MS;
  }

  async #start(backup: CoordinationBackup, site: readonly BackupMember[]): Promise<number | null> {
    const member = memberOf(backup, site);
    if (member === undefined) {
      // Anything that the old process began has ended with it.
      const message = `${backup.status?.member} was replaced before it began the backup`;
      return await this.#backToPending(backup, { reason: "MemberGone", message });
    }
    const { uid = "" } = backup.metadata;
    const { store = "" } = backup.status ?? {};
    try {
      const { allowLeaderless } = backup.spec;
      const id = await this.#call(member, (address) =>
        this.#context.members.startBackup(address, { requestId: uid, ifStore: store, allowLeaderless }),
      );
      return await this.#begun(backup, id);
    } catch (error) {
      if (!(error instanceof MemberError)) {
        throw error;
      }
      return NOT_BEGUN.has(error.reason)
        ? await this.#backToPending(backup, causeOfRefusal(error))
        : await this.#wait(backup, { reason: "StartUnanswered", message: error.message });
    }
  }

  async #begun(backup: CoordinationBackup, id: string): Promise<number> {
    const facts = { ...factsOf(backup), id, startedAt: timeText(this.#context.now()) };
    const cause = { reason: "Running", message: `${facts.member} takes the backup`, isReachable: true };
    if (!(await this.#write(backup, "Running", facts, cause))) {
      return RETRY_MS;
    }
    const note = `${facts.member} has begun backup ${id}`;
    this.#context.event(backup, { type: "Normal", reason: "BackupStarted", action: "Start", note });
    return FOLLOW_MS;
  }

  async #follow(backup: CoordinationBackup, site: readonly BackupMember[]): Promise<number | null> {
    const { id = "" } = backup.status ?? {};
    const member = memberOf(backup, site);
    if (member === undefined) {
      return await this.#findInStore(backup, site);
    }
    let report: BackupReport;
    try {
      report = await this.#call(member, (address) => this.#context.members.backups(address, id));
    } catch (error) {
      ignoreMemberError(error);
      return await this.#wait(backup, {
        reason: "MemberUnreachable",
        message: `${member.name} does not answer the operator`,
        isReachable: false,
      });
    }
    return report.run?.id === id
      ? await this.#reportRun(backup, report, report.run)
      : await this.#findInStore(backup, site);
  }

  async #reportRun(backup: CoordinationBackup, report: BackupReport, run: BackupRunReport): Promise<number | null> {
    const facts = { ...factsOf(backup), ...factsOfRun(report, run) };
    switch (run.phase) {
      case "Succeeded":
        return await this.#succeed(backup, facts);
      case "Failed":
        return await this.#fail(backup, { reason: "BackupFailed", message: run.error }, facts);
      default: {
        const message =
          run.phase === "Pending" ? "the member waits until its state is up to date" : "the member writes";
        const cause = { reason: run.phase, message: `${message} (${facts.member})`, isReachable: true };
        return (await this.#write(backup, "Running", facts, cause)) ? FOLLOW_MS : RETRY_MS;
      }
    }
  }

  /** The process that took the backup is gone, but may have completed it before. The list of the store shows that. */
  async #findInStore(backup: CoordinationBackup, site: readonly BackupMember[]): Promise<number | null> {
    const stored = await this.#storedIn(site);
    if (stored === null) {
      const message = `${backup.status?.member} was restarted, and no member can read the store: the operator cannot find out whether the backup is complete`;
      return await this.#wait(backup, { reason: "StoreUnreadable", message, isReachable: false });
    }
    const found = stored.find(({ id }) => id === backup.status?.id);
    if (found === undefined) {
      const message = `${backup.status?.member} was restarted before the backup was complete; ${NEXT_STEP}`;
      return await this.#fail(backup, { reason: "MemberRestarted", message }, factsOf(backup));
    }
    return await this.#succeed(backup, { ...factsOf(backup), ...stateOf(found) });
  }

  /** @returns null if no member can list the store */
  async #storedIn(site: readonly BackupMember[]): Promise<readonly StoredBackup[] | null> {
    for (const { address, isCurrent } of site) {
      if (address !== null && isCurrent) {
        try {
          return await this.#context.members.storedBackups(address);
        } catch (error) {
          ignoreMemberError(error);
        }
      }
    }
    return null;
  }

  #call<Result>(
    { name, address }: BackupMember,
    call: (address: NonNullable<BackupMember["address"]>) => Promise<Result>,
  ): Promise<Result> {
    return address === null
      ? Promise.reject(new MemberError("UNAVAILABLE", "", `${name} has no address yet`))
      : call(address);
  }

  async #backToPending(backup: CoordinationBackup, cause: Cause): Promise<number | null> {
    if (this.#isLate(backup)) {
      return await this.#giveUp(backup, cause);
    }
    return (await this.#write(backup, "Pending", {}, cause)) ? WAIT_MS : RETRY_MS;
  }

  /** Waits for a condition, but not forever. */
  async #wait(backup: CoordinationBackup, cause: Cause): Promise<number | null> {
    if (this.#isLate(backup)) {
      return await this.#giveUp(backup, cause);
    }
    const phase = backup.status?.phase ?? "Pending";
    return (await this.#write(backup, phase, factsOf(backup), cause)) ? WAIT_MS : RETRY_MS;
  }

  /** A running backup has no time limit while its member answers. */
  #isLate({ metadata, status }: CoordinationBackup): boolean {
    const unreachable = status?.conditions?.find(({ type }) => type === "MemberReachable");
    const isRunning = status?.phase === "Running";
    if (isRunning && unreachable?.status !== "False") {
      return false;
    }
    const since = isRunning ? unreachable?.lastTransitionTime : metadata.creationTimestamp;
    return this.#context.now() - Date.parse(since ?? "") >= TIME_LIMIT_MS;
  }

  #giveUp(backup: CoordinationBackup, { reason, message }: Cause): Promise<number | null> {
    const waited = `given up after ${TIME_LIMIT_MS / 60_000} minutes: ${message}; ${NEXT_STEP}`;
    return this.#fail(backup, { reason, message: waited }, factsOf(backup));
  }

  async #fail(
    backup: CoordinationBackup,
    cause: Cause,
    facts: Omit<BackupStatus, "conditions">,
  ): Promise<number | null> {
    const told = { ...facts, completedAt: facts.completedAt ?? timeText(this.#context.now()) };
    return await this.#end(backup, "Failed", told, cause);
  }

  async #succeed(backup: CoordinationBackup, facts: Omit<BackupStatus, "conditions">): Promise<number | null> {
    const told = { ...facts, completedAt: facts.completedAt ?? timeText(this.#context.now()) };
    const where = told.object === undefined ? "" : `: ${told.object}`;
    const message = `revision ${told.revision ?? 0} was written to the store${where}`;
    return await this.#end(backup, "Succeeded", told, { reason: "BackupSucceeded", message });
  }

  async #end(
    backup: CoordinationBackup,
    phase: "Succeeded" | "Failed",
    facts: Omit<BackupStatus, "conditions">,
    cause: Cause,
  ): Promise<number | null> {
    if (!(await this.#write(backup, phase, facts, cause))) {
      return RETRY_MS;
    }
    const { event, onFinished } = this.#context;
    const type = phase === "Failed" ? "Warning" : "Normal";
    event(backup, { type, reason: cause.reason, action: "Follow", note: cause.message });
    const schedule = backup.metadata.labels?.[SCHEDULE_LABEL];
    if (schedule !== undefined) {
      onFinished(backup.metadata.namespace ?? "", schedule);
    }
    return null;
  }

  #write(
    backup: CoordinationBackup,
    phase: NonNullable<BackupStatus["phase"]>,
    facts: Omit<BackupStatus, "conditions">,
    cause: Cause,
  ): Promise<boolean> {
    const status = statusOf(backup, phase, facts, cause, this.#context.now());
    return writeStatus(this.#context, KIND, backup, status);
  }
}

/** The chosen pod, unless another pod has its name now. */
function memberOf({ status }: CoordinationBackup, site: readonly BackupMember[]): BackupMember | undefined {
  return site.find(({ name, uid }) => name === status?.member && uid === status.memberUid);
}

function causeOfRefusal({ reason, message }: MemberError): Cause {
  switch (reason) {
    case "NO_LEADER":
      return {
        reason: "NoLeader",
        message:
          "the cluster has no leader, so the backup might miss acknowledged writes; spec.allowLeaderless allows that",
      };
    case "BACKUP_IN_PROGRESS":
      return { reason: "BackupInProgress", message: "the member is taking another backup" };
    default:
      return { reason: "StoreNotInForce", message };
  }
}
