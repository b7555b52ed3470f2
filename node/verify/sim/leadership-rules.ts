/**
 * The rules of a leader, as its process shows them: by what it gets, writes, and reports about itself.
 *
 * It leads only while it has contact to a quorum (P38), and not with a disk that takes no writes (P45). It appends no
 * change of the configuration before the last change and the first entry of its term are applied (P16). In a joint
 * configuration it appends only the end of it. It promotes no learner that lags, and makes no configuration whose
 * majority is out of reach (P21). Its uncommitted and unapplied entries are bounded (P41), and it keeps its log for the
 * members that follow it (P27). Where an observer sees something only later than the leader, the rule uses the later
 * value, which is never less.
 */

import {
  type AppendEffect,
  type Configuration,
  type CoreLimits,
  ENTRY_HEADER_BYTES,
  EntryType,
  entryIndex,
  entryPayload,
  entryTerm,
  entryType,
  isConfigurationType,
  isJoint,
  type Message,
  members,
} from "../../src/raft/index.ts";
import type { ReplicaLimits, ReplicaStatus } from "../../src/replica/index.ts";
import { decodeMembershipEntry } from "../../src/state/index.ts";
import { isQuorum } from "./membership-rules.ts";
import { must } from "./rule-violation.ts";
import { isUnhindered, TICK_MS, type TickClock } from "./tick-count.ts";

/** What an observer sees of the process and its disk at any moment. */
export interface Leading {
  readonly id: number;
  readonly clock: TickClock;
  /** The applied configuration, and the applied index. */
  readonly configuration: () => Configuration;
  readonly applied: () => number;
  /** The row of its log, if it is on the disk or about to be. */
  readonly row: (index: number) => Uint8Array | undefined;
}

interface Own {
  readonly index: number;
  readonly type: number;
  readonly bytes: number;
}

/** Largest number of ticks by which an unhindered process lags behind its clock: one due tick, and two turns. */
const LATE_TICKS = 6;
/**
 * A learner is ready after two rounds of less than 20 ticks each. The last round has just ended, or will end soon, or
 * the learner was not heard since. So it holds the log that the leader had so many ticks ago.
 */
const CAUGHT_UP_TICKS = 100;
/** A leader certainly keeps its log for a member that was heard within this time, in milliseconds (P27). */
const KEPT_FOR_MS = 8_000;
/** Larger than the log of any run. */
const UNBOUNDED_BYTES = 1024 * 1024;
/** An unfit leader hands over or gives up; a second transfer may replace the first one. */
const UNFIT_TRANSFERS = 3;

export class LeadershipRules {
  readonly #leading: Leading;
  readonly #limits: ReplicaLimits;
  readonly #core: CoreLimits;
  /** The term that it leads; 0 = none. */
  #term = 0;
  /** When it was elected, or when its configuration last changed. */
  #sinceMs = 0;
  #configIndex = 0;
  /** By peer, when a message was last read, by the clock of the process. */
  readonly #readMs = new Map<number, number>();
  /** By peer, what it has acknowledged in the term, and whether its disk takes no writes. */
  readonly #matches = new Map<number, number>();
  readonly #full = new Set<number>();
  /** By peer, the commit index that it knows. */
  readonly #commits = new Map<number, number>();
  /** Peers that have restarted in the term. */
  readonly #restarted = new Set<number>();
  /** By peer, what it had acknowledged at the end of the last turn. */
  #had: ReadonlyMap<number, number> = new Map();
  /** Peers that have answered a heartbeat since. */
  readonly #answering = new Set<number>();
  /** Entries of the term, the first of them, and those that were appended although too many entries were unapplied. */
  #own: Own[] = [];
  #firstOwn = 0;
  #behind: { readonly from: number; readonly to: number; readonly lag: number }[] = [];
  /** Ends of the log over time. */
  #lasts: { readonly atMs: number; readonly last: number }[] = [];
  #unfitSinceMs: number | null = null;
  /** The status after the last turn. */
  #before: ReplicaStatus | null = null;

  constructor(leading: Leading, limits: ReplicaLimits) {
    this.#leading = leading;
    this.#limits = limits;
    this.#core = limits.core;
  }

  /** The process has got a message, which it reads in its next turn. */
  onRead(message: Message): void {
    const { from, term } = message;
    this.#readMs.set(from, this.#leading.clock.monotonicMs());
    if ((message.type !== "append-reply" && message.type !== "heartbeat-reply") || term !== this.#term) {
      return;
    }
    this.#commits.set(from, Math.max(this.#commits.get(from) ?? 0, message.commit));
    if (message.type === "heartbeat-reply") {
      this.#answering.add(from);
      return;
    }
    const { refused, busy, index } = message;
    if (busy === "full") {
      this.#full.add(from);
    } else {
      this.#full.delete(from);
    }
    if (!refused && busy === "no") {
      this.#matches.set(from, Math.max(this.#matches.get(from) ?? 0, index));
    }
  }

  /** The peer has restarted: its earlier messages may be void, and its log may be lost. */
  onRestarted(peer: number): void {
    this.#commits.delete(peer);
    this.#full.delete(peer);
    this.#restarted.add(peer);
    this.#answering.delete(peer);
  }

  /** It leads this term from now on. */
  onElected(term: number): void {
    this.#term = term;
    this.#sinceMs = this.#leading.clock.monotonicMs();
    this.#matches.clear();
    this.#commits.clear();
    this.#restarted.clear();
    this.#had = new Map();
    this.#full.clear();
    this.#own = [];
    this.#firstOwn = 0;
    this.#behind = [];
    this.#lasts = [];
  }

  // ---- What it writes ----

  /** The process hands over a write. */
  onWrite(append: AppendEffect): void {
    const { term, commit, rows } = append;
    if (term !== this.#term) {
      return;
    }
    this.#own = this.#own.filter(({ index }) => index > commit);
    for (const row of rows) {
      if (entryTerm(row) === term) {
        const own = { index: entryIndex(row), type: entryType(row), bytes: row.length };
        this.#firstOwn ||= own.index;
        this.#own.push(own);
        this.#checkBehind(own);
        if (isConfigurationType(own.type)) {
          this.#checkChange(own, append);
        }
      }
    }
    this.#checkUncommitted(commit);
  }

  /** P41: above the limit a leader takes no entries, except one that comes alone, and those that it must append. */
  #checkUncommitted(commit: number): void {
    const { proposalsPerTurn, proposalWorkMax } = this.#limits;
    const taken = this.#own.filter(({ index, type }) => index > commit && isTaken(type)).map(({ bytes }) => bytes);
    const bytes = taken.reduce((sum, one) => sum + one, 0);
    // The entries of one turn are taken or refused together; the limit does not count their headers.
    const batchMax = Math.max(proposalWorkMax + proposalsPerTurn * ENTRY_HEADER_BYTES, ...taken);
    const max = Math.max(this.#core.uncommittedBytesMax, batchMax);
    must(bytes <= max, "P41 uncommitted entries are bounded", () => {
      return `m${this.#leading.id}: ${bytes} bytes above ${commit}, not more than ${max}`;
    });
  }

  #checkBehind({ index, type }: Own): void {
    const behind = this.#behind.find(({ from, to }) => index >= from && index <= to);
    must(behind === undefined || !isTaken(type), "P41 unapplied entries are bounded", () => {
      return `m${this.#leading.id} has taken ${index} with ${behind?.lag} entries to apply`;
    });
  }

  #checkChange({ index, type }: Own, { from, rows }: AppendEffect): void {
    const { id, applied, configuration, row: rowOf } = this.#leading;
    const appliedIndex = applied();
    const now = configuration();
    must(appliedIndex >= this.#firstOwn, "P16 no change comes before the beginning of the term is applied", () => {
      return `m${id}: ${index}, term since ${this.#firstOwn}, applied ${appliedIndex}`;
    });
    for (let earlier = appliedIndex + 1; earlier < index; earlier++) {
      const other = rows[earlier - from] ?? rowOf(earlier);
      must(other === undefined || !isConfigurationType(entryType(other)), "P16 one change at a time is pending", () => {
        return `m${id}: ${earlier} and ${index}, applied ${appliedIndex}`;
      });
    }
    must(type === EntryType.Leave || !isJoint(now), "P16 a joint configuration takes nothing but its end", () => {
      return `m${id}: ${index}, joint since ${now.index}`;
    });
    if (type === EntryType.Reconfigure && index > (this.#before?.lastIndex ?? index)) {
      this.#checkReady(rows[index - from] as Uint8Array, now, index);
    }
  }

  /** P21, if the leader has decided in this very turn. */
  #checkReady(row: Uint8Array, { voters }: Configuration, index: number): void {
    const { id } = this.#leading;
    const { operation } = decodeMembershipEntry(entryPayload(row));
    if (operation.kind !== "reconfigure") {
      return;
    }
    const { promote, demote, remove } = operation;
    const promoted = promote.filter((one) => !voters.includes(one));
    const next = [...voters, ...promoted].filter((one) => !demote.includes(one) && !remove.includes(one));
    const fit = new Set(next.filter((one) => one === id || (this.#isHeard(one) && !this.#full.has(one))));
    must(fit.size > next.length / 2, "P21 no change leaves a majority out of reach", () => {
      return `m${id}: ${index} makes ${next.join()} voters, of whom ${[...fit].join()} are heard and have room`;
    });
    const needed = Math.max(this.#firstOwn, this.#lastBefore(CAUGHT_UP_TICKS));
    for (const one of promoted) {
      const match = this.#matches.get(one) ?? 0;
      must(fit.has(one) && match >= needed, "P21 a promoted learner has caught up", () => {
        return `m${id}: ${index} promotes m${one}, which has ${match} of ${needed}`;
      });
    }
  }

  /** Whether the peer was heard so recently that a leader counts on it; also if that cannot be seen from outside. */
  #isHeard(peer: number): boolean {
    const { clock } = this.#leading;
    const limitMs = (this.#core.noQuorumTicks + LATE_TICKS) * TICK_MS;
    const silentMs = clock.monotonicMs() - (this.#readMs.get(peer) ?? Number.NEGATIVE_INFINITY);
    return silentMs <= limitMs || !isUnhindered(clock, limitMs);
  }

  /** The last index of its log this many ticks ago; 0 if that cannot be seen from outside. */
  #lastBefore(ticks: number): number {
    const { clock } = this.#leading;
    const spanMs = (ticks + LATE_TICKS) * TICK_MS;
    const thenMs = clock.monotonicMs() - spanMs;
    return isUnhindered(clock, spanMs) ? (this.#lasts.findLast(({ atMs }) => atMs <= thenMs)?.last ?? 0) : 0;
  }

  // ---- Turns ----

  /** The process has read all its messages. */
  onTurn(status: ReplicaStatus): void {
    const { role, term } = status;
    const before = this.#before;
    this.#before = status;
    const answering = [...this.#answering];
    this.#answering.clear();
    if (role !== "leader" || term !== this.#term) {
      this.#term = 0;
      this.#unfitSinceMs = null;
      return;
    }
    const configuration = this.#leading.configuration();
    if (configuration.index !== this.#configIndex) {
      this.#configIndex = configuration.index;
      this.#sinceMs = this.#leading.clock.monotonicMs();
    } else if (answering.some((peer) => configuration.voters.includes(peer))) {
      this.#checkRemoval(configuration);
    }
    if (before?.role === "leader" && before.term === term) {
      this.#checkKept(status, before, configuration);
    }
    this.#checkContact(configuration);
    this.#checkFitness(status, configuration);
    this.#noteLast(status, before);
  }

  /** P38: a leader without contact to a quorum for this long steps down. */
  #checkContact(configuration: Configuration): void {
    const { id, clock } = this.#leading;
    const limitMs = (this.#core.contactTicks + LATE_TICKS) * TICK_MS;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#sinceMs <= limitMs || !isUnhindered(clock, limitMs)) {
      return;
    }
    const heard = [...this.#readMs].filter(([, atMs]) => nowMs - atMs <= limitMs).map(([peer]) => peer);
    must(isQuorum(new Set([id, ...heard]), configuration), "P38 a leader that hears no quorum steps down", () => {
      return `m${id} leads term ${this.#term}, and has heard ${heard.join()} within ${limitMs} ms`;
    });
  }

  /** P17: a leader that is no voter any more leads only until a quorum of the voters knows that. */
  #checkRemoval(configuration: Configuration): void {
    const { id } = this.#leading;
    const { index, voters } = configuration;
    if (isJoint(configuration) || voters.includes(id)) {
      return;
    }
    const knowing = new Set(voters.filter((voter) => (this.#commits.get(voter) ?? 0) >= index));
    must(!isQuorum(knowing, configuration), "P17 a removed leader steps down when others know", () => {
      return `m${id} leads term ${this.#term}, and ${[...knowing].join()} know of ${index}`;
    });
  }

  /** P27: the log is kept for the members that can still catch up from it, if there is no limit on what is kept. */
  #checkKept({ firstIndex }: ReplicaStatus, before: ReplicaStatus, configuration: Configuration): void {
    const { id, clock } = this.#leading;
    const had = this.#had;
    const has = (peer: number): number => Math.max(this.#matches.get(peer) ?? 0, this.#commits.get(peer) ?? 0);
    const known = members(configuration).filter((peer) => this.#matches.has(peer) && !this.#restarted.has(peer));
    this.#had = new Map(known.map((peer) => [peer, this.#matches.get(peer) ?? 0]));
    if (firstIndex === before.firstIndex || this.#limits.compaction.neededBytes < UNBOUNDED_BYTES) {
      return;
    }
    for (const [peer, index] of [...had].filter(([one]) => known.includes(one))) {
      const isHeard = clock.monotonicMs() - (this.#readMs.get(peer) ?? Number.NEGATIVE_INFINITY) < KEPT_FOR_MS;
      const isKeptFor = peer !== id && isHeard && index >= before.firstIndex - 1;
      must(!isKeptFor || firstIndex <= has(peer) + 1, "P27 the log is kept for those that follow it", () => {
        return `m${id} begins at ${firstIndex}, and m${peer} has ${has(peer)}`;
      });
    }
  }

  /** P45, P59: a leader whose disk takes no writes hands over, or steps down. */
  #checkFitness({ alarms }: ReplicaStatus, { voters, outgoing }: Configuration): void {
    const { id, clock } = this.#leading;
    const isSole = voters.length === 1 && voters[0] === id && outgoing.length === 0;
    const isUnfit = alarms.some((alarm) => alarm === "the disk is full" || alarm === "the disk does not answer");
    const nowMs = clock.monotonicMs();
    this.#unfitSinceMs = isUnfit && !isSole ? (this.#unfitSinceMs ?? nowMs) : null;
    const limitMs = (UNFIT_TRANSFERS * this.#core.transferTicks + LATE_TICKS) * TICK_MS;
    const spanMs = nowMs - (this.#unfitSinceMs ?? nowMs);
    must(spanMs <= limitMs || !isUnhindered(clock, limitMs), "P45, P59 whose disk takes nothing leads no more", () => {
      return `m${id} leads term ${this.#term}: ${alarms.join("; ")} for ${Math.round(spanMs)} ms`;
    });
  }

  #noteLast({ lastIndex, appliedIndex, term }: ReplicaStatus, before: ReplicaStatus | null): void {
    if (this.#lasts.at(-1)?.last !== lastIndex) {
      const atMs = this.#leading.clock.monotonicMs();
      const horizonMs = atMs - 2 * (CAUGHT_UP_TICKS + LATE_TICKS) * TICK_MS;
      const kept = this.#lasts.findLastIndex(({ atMs: then }) => then <= horizonMs);
      this.#lasts.splice(0, Math.max(0, kept));
      this.#lasts.push({ atMs, last: lastIndex });
    }
    if (before === null || before.role !== "leader" || before.term !== term || lastIndex === before.lastIndex) {
      return;
    }
    const lag = before.commitIndex - appliedIndex;
    if (lag > this.#core.unappliedEntriesMax) {
      // Some of them are written already, the others will be.
      this.#behind.push({ from: before.lastIndex + 1, to: lastIndex, lag });
      for (const own of this.#own) {
        this.#checkBehind(own);
      }
    }
  }
}

/** Whether entries of the type come from callers, so that a leader may refuse them. */
function isTaken(type: number): boolean {
  return type === EntryType.Command || type === EntryType.AddSlot || type === EntryType.Reconfigure;
}
