/**
 * The rules for every step of every member, as far as they can be seen from outside: in what it writes, sends and
 * reports. Throws a RuleViolation that names the broken rule.
 */

import { decodeMessage, type Frame, isMessageType } from "../../src/peers/index.ts";
import { type AppendEffect, type Configuration, entryTerm } from "../../src/raft/index.ts";
import type { ReplicaLimits, ReplicaStatus } from "../../src/replica/index.ts";
import { readProgress, type StateReader } from "../../src/state/index.ts";
import { AccessRules } from "./access-rules.ts";
import { CanonicalLog } from "./canonical-log.ts";
import { clusterOf, configurationOf } from "./cluster-record.ts";
import { CommitRecord } from "./commit-record.ts";
import { DepartureRules } from "./departure-rules.ts";
import type { Disk, LogMeta } from "./disk.ts";
import { EventLogRules } from "./event-log-rules.ts";
import { LimitRules } from "./limit-rules.ts";
import { LiveExecution } from "./live-execution.ts";
import { LockRules } from "./lock-rules.ts";
import { isQuorum, MembershipRules } from "./membership-rules.ts";
import { MemoryRules } from "./memory-rules.ts";
import { must } from "./rule-violation.ts";
import { SessionRules } from "./session-rules.ts";
import type { SimLog } from "./sim-log.ts";
import { SpaceRules } from "./space-rules.ts";
import { TimeoutRules } from "./timeout-rules.ts";
import { TransactionRules } from "./transaction-rules.ts";
import { WatchRules } from "./watch-rules.ts";

/** A member, as the rules see it. */
export interface Observed {
  readonly id: number;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  readonly disk: Disk;
  /** The state that its process has applied, whether or not its disk has it. */
  readonly state: StateReader;
  readonly log: SimLog;
  /** The last commit index that its process has reported. */
  commit: number;
  /** The configuration that it had applied then, if it was leading. */
  configuration: Configuration;
}

export class Rules {
  readonly #disks = new Map<number, Disk>();
  /** By damaged member, the committed index when it began. */
  readonly #lostAt = new Map<number, number>();
  readonly log: CanonicalLog;
  readonly membership: MembershipRules;
  readonly limits: LimitRules;
  readonly departures = new DepartureRules();
  readonly timeouts: TimeoutRules;
  readonly space = new SpaceRules();
  readonly access = new AccessRules();
  readonly locks: LockRules;
  readonly memory = new MemoryRules();
  readonly logs = new EventLogRules();
  readonly transactions: TransactionRules;
  readonly sessions = new SessionRules();
  readonly watches: WatchRules;
  /** The committed log, executed separately from all members. */
  readonly execution: LiveExecution;
  readonly #leaders = new Map<number, number>();
  readonly #commits = new CommitRecord();
  /** Durable votes, by member and term. */
  readonly #votes = new Map<string, number>();

  constructor(nowMs: () => number, clusterId: string, limits: ReplicaLimits) {
    this.log = new CanonicalLog(nowMs);
    this.membership = new MembershipRules(clusterId);
    this.limits = new LimitRules(limits);
    this.timeouts = new TimeoutRules(limits.core);
    this.locks = new LockRules(limits.state.lockReadersMax, this.access);
    this.watches = new WatchRules(this.locks);
    this.transactions = new TransactionRules(this.locks, this.watches);
    const witnesses = [this.access, this.locks, this.memory, this.logs, this.transactions, this.sessions, this.watches];
    this.execution = new LiveExecution(this.log, limits.state, witnesses);
  }

  /** The highest term with a leader. */
  get terms(): number {
    return Math.max(0, ...this.#leaders.keys());
  }

  get leaders(): number {
    return this.#leaders.size;
  }

  /** How often clients have done things that leave a trace in the state. */
  get counts(): Record<string, number> {
    const { locks, memory, logs, transactions, sessions } = this;
    return {
      grants: locks.grants,
      lapsed: locks.expiries.size,
      fenced: locks.fenced,
      regions: memory.changes,
      erasures: memory.erasures,
      appends: logs.appends,
      duplicates: logs.duplicates,
      conflicts: logs.conflicts,
      removed: logs.removed,
      transactions: transactions.succeeded,
      "not succeeded": transactions.failed,
      "rolled back": transactions.refused,
      "sessions renewed": sessions.renewals,
      "sessions ended": sessions.ended,
      "sessions expired": sessions.expiries.size,
    };
  }

  /** A process of the member begins. */
  onStart(id: number, incarnation: string, disk: Disk): void {
    this.membership.onIdentity(id, incarnation);
    this.#disks.set(id, disk);
    this.departures.onCommitDurable(id, disk.meta.commit);
    if (disk.mirror.damaged) {
      this.#lostAt.set(id, this.log.last);
    }
  }

  /** The member is removed: its data does not count any more. */
  onRetired(id: number): void {
    this.#disks.delete(id);
  }

  /** A write is handed over, but not durable yet. */
  onWrite({ id, disk, log }: Observed, append: AppendEffect, meta: LogMeta): void {
    const { from, rows, commit, term } = append;
    must(term >= disk.meta.term, "I2 terms never fall", () => `m${id}: ${term} after ${disk.meta.term}`);
    must(commit >= disk.meta.commit, "I2 commit indexes never fall", () => {
      return `m${id}: ${commit} after ${disk.meta.commit}`;
    });
    const before = from === meta.first ? undefined : log.row(from - 1);
    this.membership.onRows(id, rows, commit, meta.last, (index) => rows[index - from] ?? log.row(index));
    this.log.wrote(id, rows, before === undefined ? meta.prevTerm : entryTerm(before));
    for (let index = Math.max(from, 1); index <= Math.min(meta.last, this.log.last); index++) {
      // Committed entries may be missing here. But a log that knows an entry as committed must not have another one in
      // its place.
      const row = rows[index - from];
      if (row !== undefined && index <= commit) {
        this.log.committed(id, index, row);
      }
    }
  }

  /** A write is on the disk. */
  onLanded({ id }: Observed, { term, vote, commit }: LogMeta): void {
    this.departures.onCommitDurable(id, commit);
    if (vote !== 0) {
      const key = `${id} in term ${term}`;
      const known = this.#votes.get(key) ?? vote;
      must(known === vote, "I3 one vote of a member in a term", () => `m${key}: ${known} and ${vote}`);
      this.#votes.set(key, vote);
    }
  }

  /** A write is acknowledged. */
  onDurable({ id, disk }: Observed, meta: LogMeta): void {
    for (let index = Math.max(meta.first, this.log.last); index <= meta.commit; index++) {
      const row = disk.rows.get(index);
      must(row !== undefined, "I8 the log holds what is committed", () => `m${id}: ${index}`);
      this.log.committed(id, index, row);
    }
  }

  /** A batch of the state is written. */
  onApplied({ id, disk, state }: Observed, fromIndex: number): void {
    const { appliedIndex, appliedTerm, digest } = readProgress(state);
    for (let index = fromIndex + 1; index <= appliedIndex; index++) {
      const row = disk.rows.get(index);
      must(row !== undefined, "I8 what is applied is durable in the log", () => `m${id}: ${index}`);
      this.log.committed(id, index, row);
    }
    const row = disk.rows.get(appliedIndex);
    must(row !== undefined && entryTerm(row) === appliedTerm, "I8 the state is where the log is", () => {
      return `m${id} at ${appliedIndex}/${appliedTerm}`;
    });
    this.limits.onApplied(id, appliedIndex - fromIndex);
    const cluster = clusterOf(state);
    if (cluster !== undefined) {
      this.departures.onRecord(cluster);
    }
    this.log.applied(id, appliedIndex, digest);
    this.execution.advance();
  }

  /** The member has had a turn. */
  onTurn(observed: Observed, status: ReplicaStatus): void {
    const { id } = observed;
    const { role, term, commitIndex, appliedIndex, lastIndex } = status;
    must(appliedIndex <= commitIndex, "I8 what is applied is committed", () => `m${id}: ${appliedIndex}`);
    must(commitIndex <= lastIndex, "I8 what is committed is in the log", () => `m${id}: ${commitIndex}`);
    must(commitIndex >= observed.commit, "I2 commit indexes never fall", () => {
      return `m${id}: ${commitIndex} after ${observed.commit}`;
    });
    if (role === "leader" && commitIndex > observed.commit) {
      if (this.#commits.onCommit(term, commitIndex)) {
        this.#onFirstCommit(observed, commitIndex, term);
      }
    }
    observed.commit = commitIndex;
    if (role === "leader") {
      observed.configuration = configurationOf(observed.state);
    }
    this.space.onTurn(status, observed.configuration);
    if (role !== "leader") {
      return;
    }
    if (this.#leaders.get(term) !== id) {
      this.#onLeader(observed, status);
    }
  }

  /**
   * A leader is the first to commit something: by the configuration that it had before, or that it has now. For an
   * entry of an earlier term, a voter's message may have advanced it: the leader of that term has counted, by a
   * configuration of its own. Entries that a later leader has committed long before are not checked: their holders may
   * have been removed and destroyed since.
   */
  #onFirstCommit({ id, log, state: applied, configuration: before }: Observed, index: number, term: number): void {
    const row = log.row(index);
    if (row === undefined || entryTerm(row) !== term) {
      return;
    }
    if ([...this.#disks.values()].some((one) => one.mirror.damaged || one.isLogLost)) {
      // Acknowledgements of lost data count until the loss is known. Other rules make up for them.
      return;
    }
    const holders = new Set<number>();
    for (const [holder, { rows, state }] of this.#disks) {
      const held = rows.get(index);
      const isHeld =
        held === undefined ? readProgress(state).appliedIndex >= index : entryTerm(held) === entryTerm(row);
      if (isHeld) {
        holders.add(holder);
      }
    }
    const after = configurationOf(applied);
    must(isQuorum(holders, before) || isQuorum(holders, after), "I7 what is committed is durable on a quorum", () => {
      return `m${id} has committed ${index}, held by ${[...holders].join()}; voters ${after.voters.join()}`;
    });
  }

  #onLeader({ id, log }: Observed, { term, lastIndex, firstIndex }: ReplicaStatus): void {
    const leader = this.#leaders.get(term);
    must(leader === undefined, "I1 one leader in a term", () => `term ${term}: m${leader} and m${id}`);
    this.#leaders.set(term, id);
    const committed = this.#commits.below(term);
    must(lastIndex >= committed, "I5 a leader has all that is committed", () => {
      return `m${id} in term ${term} ends at ${lastIndex}, committed ${committed}`;
    });
    for (let index = firstIndex; index <= Math.min(committed, this.log.last); index++) {
      const row = log.row(index);
      if (row !== undefined) {
        this.log.committed(id, index, row);
      }
    }
  }

  /** A damaged member considers itself whole again. */
  onHealed({ id, disk, state }: Observed): void {
    const needed = this.#lostAt.get(id) ?? 0;
    const { first, last } = disk.meta;
    const applied = readProgress(state).appliedIndex;
    must(Math.max(last, applied) >= needed, "I18 a member is whole when it has all that was committed", () => {
      return `m${id} ends at ${last}, committed ${needed} when it began`;
    });
    for (let index = first; index <= Math.min(last, needed); index++) {
      this.log.committed(id, index, disk.rows.get(index) as Uint8Array);
    }
  }

  /** A frame leaves the member. */
  onFrameSent({ id, incarnation, disk, state }: Observed, to: number, frame: Frame): void {
    const { type, body } = frame;
    this.limits.onFrameSent(id, to, frame);
    if (!isMessageType(type)) {
      return;
    }
    const message = decodeMessage(type, body, id, to);
    const { damaged } = disk.mirror;
    const { meta } = disk;
    this.membership.onIdentity(id, incarnation);
    switch (message.type) {
      case "vote-reply":
      case "pre-vote-reply":
        must(!(message.granted && damaged), "I18 a damaged member grants no vote", () => `m${id} to m${to}`);
        if (message.type === "vote-reply" && message.granted) {
          must(meta.term >= message.term, "I11 votes are durable before they are sent", () => {
            return `m${id} to m${to} in term ${message.term}, durable ${meta.term}`;
          });
          must(meta.term > message.term || meta.vote === to, "I11 votes are durable before they are sent", () => {
            return `m${id} to m${to} in term ${message.term}, durable ${meta.vote}`;
          });
        }
        return;
      case "vote":
      case "pre-vote":
        must(!damaged, "I18 a damaged member asks for no vote", () => `m${id} in term ${message.term}`);
        must(message.type === "pre-vote" || meta.term >= message.term, "I11 candidates have voted durably", () => {
          return `m${id} in term ${message.term}, durable ${meta.term}`;
        });
        return;
      case "append-reply": {
        const { index, refused, busy } = message;
        const isAcknowledged = !refused && busy === "no";
        must(
          !isAcknowledged || index <= Math.max(meta.last, readProgress(state).appliedIndex),
          "I11 what is acknowledged is durable",
          () => {
            return `m${id} to m${to}: ${index}, durable ${meta.last}`;
          },
        );
        return;
      }
      default:
        return;
    }
  }
}
