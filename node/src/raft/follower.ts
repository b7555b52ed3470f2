/**
 * Following: what a member does with the entries and heartbeats of its leader (Raft, Ongaro 2014 §3.5).
 *
 * A follower takes entries if it has the entry before them. The first entry that differs removes the ones after it,
 * but never a committed one (P29). Every answer to an Append waits for the write that makes it true (P2). A follower
 * answers an Append that only carries the commit index only if that Append does not fit. A member with too many entries
 * not yet written or applied takes no more, and reports that (P41).
 */

import { invariant, mark } from "../primitives/index.ts";
import type { CoreState } from "./core-state.ts";
import type { Election } from "./election.ts";
import { entryIndex, entryTerm } from "./entry.ts";
import type { Install } from "./install.ts";
import type { Append, AppendReply, Busy, Heartbeat, ReadReply } from "./message.ts";

export class Follower {
  readonly #state: CoreState;
  readonly #election: Election;
  readonly #install: Install;
  /**
   * Acknowledged data is lost, or may be lost until the first call of `setDisk`. While true, a heartbeat proves no
   * loss.
   */
  #damaged = true;
  #diskFull = false;
  #hasWaiters = false;
  #lossProven = false;

  constructor(state: CoreState, election: Election, install: Install) {
    this.#state = state;
    this.#election = election;
    this.#install = install;
  }

  /** Sets what the driver knows about this member's disk. */
  setDisk(disk: { readonly damaged: boolean; readonly diskFull: boolean }): void {
    this.#damaged = disk.damaged;
    this.#diskFull = disk.diskFull;
  }

  /** Sets whether a client at this member waits for the next commit. */
  setHasWaiters(hasWaiters: boolean): void {
    this.#hasWaiters = hasWaiters;
  }

  /** Whether the leader has proven, since the last call, that acknowledged entries disappeared unnoticed. */
  takeLossProven(): boolean {
    const lossProven = this.#lossProven;
    this.#lossProven = false;
    return lossProven;
  }

  // ---- Messages of the leader of the present term ----

  onHeartbeat(message: Heartbeat): void {
    const { log } = this.#state;
    this.#election.follow(message.from);
    if (!this.#install.isPlaced) {
      if (message.commit > log.lastIndex && !this.#damaged) {
        // The leader received this member's acknowledgement of that entry, and the entry is gone.
        mark("raft.loss-proven");
        this.#lossProven = true;
        return;
      }
      this.#state.commitTo(Math.min(message.commit, log.lastIndex));
    }
    this.answerHeartbeat(message.from, message.readPosition);
  }

  onAppend(message: Append): void {
    this.#election.follow(message.from);
    if (this.#install.isPlaced) {
      mark("raft.append.during-install");
      return;
    }
    const { prevIndex, prevTerm, rows } = message;
    const { log, commit, unappliedBytes, limits } = this.#state;
    if (prevIndex < commit) {
      mark("raft.append.below-commit");
      this.#acknowledgeIfRequested(message, commit);
      return;
    }
    if (!this.#state.containsEntry(prevIndex, prevTerm)) {
      this.refuse(message, "no");
      return;
    }
    if (rows.length > 0 && (this.#diskFull || log.unstableBytes + unappliedBytes > limits.followerBytesMax)) {
      mark("raft.append.busy");
      this.refuse(message, this.#diskFull ? "full" : "busy");
      return;
    }
    this.#appendNewRows(message);
    const lastNew = prevIndex + rows.length;
    this.#state.commitTo(Math.min(message.commit, lastNew));
    this.#acknowledgeIfRequested(message, lastNew);
  }

  /** Counts only from the current leader in the current term, for this start of this member (P10). */
  onReadReply(message: ReadReply): void {
    if (message.from === this.#election.leader && message.boot === this.#state.boot) {
      this.#state.reads.confirmAt(message.position, message.index);
    }
  }

  /**
   * Adds the rows that the log does not contain; the first row with a different term removes the entries from there on.
   */
  #appendNewRows({ prevIndex, term, rows }: Append): void {
    const { log, commit } = this.#state;
    let hasNews = false;
    let index = prevIndex;
    for (const row of rows) {
      index++;
      invariant(
        entryIndex(row) === index,
        "what is sent follows what is there",
        () => `${entryIndex(row)} at ${index}`,
      );
      invariant(entryTerm(row) <= term, "no entry is newer than its leader", () => `${entryTerm(row)} in ${term}`);
      if (index <= log.lastIndex) {
        if (log.term(index) === entryTerm(row)) {
          continue;
        }
        invariant(index > commit, "what is committed never changes", () => `${index}, commit ${commit}`);
        mark("raft.append.replaces");
        log.truncate(index);
      }
      log.append(row);
      hasNews = true;
    }
    if (hasNews) {
      // The log continues without the snapshot.
      this.#install.cancel();
    }
  }

  // ---- Answers ----

  /** Reports, once it is durable, that the log equals the leader's up to the index. */
  acknowledge(to: number, index: number): void {
    this.#answerAppend(to, { index, refused: false, hintIndex: 0, hintTerm: 0, busy: "no" });
  }

  #acknowledgeIfRequested({ from, wantsReply }: Append, index: number): void {
    if (wantsReply) {
      this.acknowledge(from, index);
    } else {
      mark("raft.append.no-reply");
    }
  }

  /** Reports that the log does not contain the entry before the sent ones, and where the logs may still be equal. */
  refuse({ from, prevIndex, prevTerm }: Append, busy: Busy): void {
    const { log } = this.#state;
    const hintIndex = Math.max(log.lastWithTermAtMost(prevIndex, prevTerm), log.firstIndex - 1);
    this.#answerAppend(from, { index: prevIndex, refused: true, hintIndex, hintTerm: log.term(hintIndex), busy });
  }

  /** Needs no write: each quorum that elects has its term durable. */
  answerHeartbeat(to: number, readPosition: number): void {
    const { id, term, durableCommit: commit, applied } = this.#state;
    const watched = this.#hasWaiters;
    this.#state.send({ type: "heartbeat-reply", from: id, to, term, commit, applied, readPosition, watched });
  }

  #answerAppend(to: number, answer: Pick<AppendReply, "index" | "refused" | "hintIndex" | "hintTerm" | "busy">): void {
    const { id, term, durableCommit: commit } = this.#state;
    this.#state.defer({ type: "append-reply", from: id, to, term, commit, ...answer });
  }
}
