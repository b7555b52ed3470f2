/**
 * Elections: this member's role, its leader, and its votes (Raft, Ongaro 2014 §3.4, §9.6).
 *
 * A member that misses its leader first asks whether it could win (pre-vote), and enters a new term only if so. A
 * member that hears a leader ignores elections, unless the leader itself requested one. A candidate requests votes only
 * when its term and vote are durable (P54), and counts its own vote only then (P4). Every answer waits for the write
 * that holds the vote (P1). `Leadership` does the leader's work; this class creates and drops it.
 */

import { invariant, mark } from "../primitives/index.ts";
import type { CoreState } from "./core-state.ts";
import { isConfigurationType } from "./entry.ts";
import type { Install } from "./install.ts";
import { Leadership } from "./leadership.ts";
import type { Message, PreVote, PreVoteReply, TimeoutNow, Vote, VoteReply } from "./message.ts";
import { Votes } from "./votes.ts";

export type Role = "follower" | "candidate" | "leader";

/** Whether a member may vote and lead. */
export interface Eligibility {
  readonly mayVote: boolean;
  readonly mayLead: boolean;
}

/** A pre-candidate is a candidate that has not yet entered the term that it wants to lead. */
type Phase = "follower" | "pre-candidate" | "candidate" | "leader";

/**
 * A member that knows that the leader's process is gone becomes a candidate within this many ticks. The member draws
 * the exact number at random, so that few members become candidates at once.
 */
const GONE_TICKS = 6;
/** A pre-candidate without enough answers asks again after this many ticks. */
const PRE_VOTE_TICKS = 4;

export class Election {
  readonly #state: CoreState;
  readonly #install: Install;
  /** A whole number in [0, bound). */
  readonly #random: (bound: number) => number;
  #phase: Phase = "follower";
  #leader = 0;
  #leadership: Leadership | null = null;
  #eligibility: Eligibility = { mayVote: false, mayLead: false };
  /** The write that carries this member's vote for itself in the current term. */
  #selfVoteSeq = 0;
  #isSelfVoteDurable = false;
  #votes = new Votes();
  #elapsedTicks = 0;
  #timeoutTicks: number;
  /** The timeout that applies once the leader's process is known to be gone; infinity while it may run. */
  #goneTimeoutTicks = Number.POSITIVE_INFINITY;
  #leaderHeardTick = Number.NEGATIVE_INFINITY;
  #hasChanged = true;

  constructor(state: CoreState, install: Install, random: (bound: number) => number) {
    this.#state = state;
    this.#install = install;
    this.#random = random;
    this.#timeoutTicks = this.#drawTimeout();
  }

  get role(): Role {
    return this.#phase === "pre-candidate" ? "candidate" : this.#phase;
  }

  /** Id of the leader of the current term, 0 if unknown. */
  get leader(): number {
    return this.#leader;
  }

  /** The leader's own state; null in every other role. */
  get leadership(): Leadership | null {
    return this.#leadership;
  }

  /** Tick at which this member last heard the leader or, as the leader, last heard a quorum; −∞ if never. */
  get contactTick(): number {
    return this.#leadership?.quorumHeardTick ?? this.#leaderHeardTick;
  }

  /** Whether role, term, leader or configuration have changed since the last call. */
  takeChanged(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  /** The configuration has changed. */
  onConfiguration(): void {
    this.#hasChanged = true;
    this.#leadership?.onConfiguration();
  }

  // ---- Time and fitness ----

  /** Advances the clock by one tick. */
  tick(): void {
    if (this.#leadership !== null) {
      this.#leadership.tick(this.#eligibility.mayLead);
      this.stepDownIfEnded();
      return;
    }
    this.#elapsedTicks++;
    if (this.#elapsedTicks >= Math.min(this.#timeoutTicks, this.#goneTimeoutTicks)) {
      this.campaign();
    } else if (this.#phase === "pre-candidate" && this.#elapsedTicks % PRE_VOTE_TICKS === 0) {
      // A voter that heard the leader a moment later than this member stays silent, so ask again. Asking changes
      // nothing, but waiting would cost a whole timeout.
      this.#askForPreVotes();
    }
  }

  /**
   * The peer's process is gone. If the peer leads, this member soon becomes a candidate (see `GONE_TICKS`) instead of
   * waiting for the election timeout. If the leader is running after all, its next message cancels this, and members
   * that hear the leader do not vote.
   */
  peerGone(id: number): void {
    if (this.#phase === "follower" && this.#leader === id && this.#goneTimeoutTicks === Number.POSITIVE_INFINITY) {
      mark("raft.leader-gone");
      this.#leaderHeardTick = Number.NEGATIVE_INFINITY;
      this.#goneTimeoutTicks = this.#elapsedTicks + 1 + this.#random(GONE_TICKS);
    }
  }

  /** A leader that may not lead transfers the leadership if possible, else steps down. A candidate gives up. */
  setEligibility(eligibility: Eligibility): void {
    this.#eligibility = eligibility;
    if (this.#leadership !== null) {
      const mayStay =
        eligibility.mayLead || this.#leadership.isTransferring || this.#leadership.transferToBest() === null;
      if (!mayStay) {
        this.becomeFollower(0);
      }
    } else if (this.#phase !== "follower" && !(eligibility.mayLead && eligibility.mayVote)) {
      this.becomeFollower(0);
    }
  }

  /** Steps down, in the same term, if a rule has ended the leadership. */
  stepDownIfEnded(): void {
    if (this.#leadership?.hasEnded === true) {
      this.becomeFollower(0);
    }
  }

  // ---- Campaigns ----

  /** Asks for pre-votes unless this member is not electable; returns whether it did. */
  campaign(): boolean {
    this.#restartTimer();
    if (!this.#isElectable()) {
      return false;
    }
    if (this.#phase === "candidate" && !this.#isSelfVoteDurable) {
      // No vote request has been sent yet. A new term would need a new write: on a slow disk, for ever.
      return false;
    }
    mark("raft.pre-campaign");
    this.#enterPhase("pre-candidate", 0);
    this.#votes = new Votes();
    this.#votes.record(this.#state.id, true);
    this.#askForPreVotes();
    this.#evaluateVotes();
    return true;
  }

  #askForPreVotes(): void {
    for (const to of this.#state.otherVoters) {
      this.#state.send({ type: "pre-vote", ...this.#candidateFields(to), term: this.#state.term + 1 });
    }
  }

  /** The write is durable. If it contains this member's vote for itself, that vote counts from now on (P4). */
  onDurable(writeSeq: number): void {
    if (this.#phase === "candidate" && this.#selfVoteSeq <= writeSeq) {
      this.#isSelfVoteDurable = true;
      this.#votes.record(this.#state.id, true);
      this.#evaluateVotes();
    }
  }

  #isElectable(): boolean {
    const { id, configuration, log, applied, commit } = this.#state;
    if (
      this.#phase === "leader" ||
      !this.#eligibility.mayLead ||
      !this.#eligibility.mayVote ||
      this.#install.isUnderWay
    ) {
      return false;
    }
    // An outgoing voter may be the only remaining member with the joint configuration in its log.
    if (!configuration.voters.includes(id) && !configuration.outgoing.includes(id)) {
      return false;
    }
    // A committed change that is not applied yet may have removed this member's vote (P15).
    if (log.someType(applied + 1, commit, isConfigurationType)) {
      mark("raft.campaign.unapplied-configuration");
      return false;
    }
    return true;
  }

  #becomeCandidate(transfer: boolean): void {
    mark("raft.campaign");
    this.#state.enterTerm(this.#state.term + 1);
    this.#state.voteFor(this.#state.id);
    this.#selfVoteSeq = this.#state.writes.nextSeq;
    this.#isSelfVoteDurable = false;
    this.#enterPhase("candidate", 0);
    this.#votes = new Votes();
    this.#restartTimer();
    for (const to of this.#state.otherVoters) {
      this.#state.defer({ type: "vote", ...this.#candidateFields(to), term: this.#state.term, transfer });
    }
  }

  #candidateFields(to: number): { from: number; to: number; lastIndex: number; lastTerm: number } {
    const { id, log } = this.#state;
    return { from: id, to, lastIndex: log.lastIndex, lastTerm: log.lastTerm };
  }

  #evaluateVotes(): void {
    switch (this.#votes.result(this.#state.configuration)) {
      case "pending":
        return;
      case "lost":
        this.becomeFollower(0);
        return;
      case "won":
        if (this.#phase === "pre-candidate") {
          this.#becomeCandidate(false);
        } else {
          this.#becomeLeader();
        }
        return;
    }
  }

  #becomeLeader(): void {
    invariant(this.#phase === "candidate", "only a candidate becomes leader", () => this.#phase);
    invariant(this.#state.vote === this.#state.id, "a leader has voted for itself");
    mark("raft.elected");
    this.#enterPhase("leader", this.#state.id);
    this.#leadership = new Leadership(this.#state);
  }

  // ---- Following ----

  /** Follows this leader in the current term, or no leader if 0. */
  becomeFollower(leader: number): void {
    if (this.#leadership !== null) {
      mark("raft.stepped-down");
      this.#leadership = null;
    }
    this.#enterPhase("follower", leader);
    this.#restartTimer();
  }

  /** Enters a newer term as a follower of this leader, or of no known leader if 0. */
  enterTerm(term: number, leader: number): void {
    this.#state.enterTerm(term);
    // Reads that were requested in the old term are requested again in this one.
    this.#state.reads.failAll();
    this.#hasChanged = true;
    this.becomeFollower(leader);
  }

  /** This member heard the leader of the current term. */
  follow(leader: number): void {
    invariant(this.#phase !== "leader", "one member leads a term", () => `term ${this.#state.term}: ${leader}`);
    invariant(this.#leader === 0 || this.#leader === leader, "one member leads a term", () => {
      return `term ${this.#state.term}: ${this.#leader} and ${leader}`;
    });
    if (this.#phase !== "follower" || this.#leader !== leader) {
      this.becomeFollower(leader);
    }
    this.#install.cancelUnlessFrom(leader);
    this.#leaderHeardTick = this.#state.tick;
    this.#elapsedTicks = 0;
    this.#goneTimeoutTicks = Number.POSITIVE_INFINITY;
  }

  // ---- Messages ----

  /**
   * Handles a message of a higher term. Enters that term unless the message does not justify it. Returns whether the
   * caller must still process the message in its own term.
   */
  admit(message: Message): boolean {
    switch (message.type) {
      case "vote":
        if (this.#ignoresWhileInContact(message)) {
          return false;
        }
        this.enterTerm(message.term, 0);
        return true;
      case "pre-vote":
        if (!this.#ignoresWhileInContact(message)) {
          this.#onPreVote(message);
        }
        return false;
      case "pre-vote-reply":
        this.#learnCommit(message);
        // A grant is for the term after this member's, which this member has not entered.
        if (message.granted) {
          this.#onPreVoteGranted(message);
          return false;
        }
        this.enterTerm(message.term, 0);
        return true;
      case "append":
      case "heartbeat":
        this.enterTerm(message.term, message.from);
        return true;
      default:
        this.enterTerm(message.term, 0);
        return true;
    }
  }

  /** Answers a vote request of the current term. */
  onVote(message: Vote): void {
    if (this.#ignoresWhileInContact(message)) {
      return;
    }
    const isFree = this.#state.vote === 0 || this.#state.vote === message.from;
    const granted = isFree && this.#eligibility.mayVote && this.#isUpToDate(message);
    if (granted) {
      invariant(this.#phase === "follower" || this.#phase === "pre-candidate", "a candidate has voted for itself");
      this.#state.voteFor(message.from);
      // A member that has just voted gives that election time to finish.
      this.becomeFollower(this.#leader);
    }
    this.#answerVote(message.from, granted);
  }

  /** Refuses a vote request of an older term, so that the candidate learns the current term (P37). */
  refuseVote(to: number): void {
    this.#answerVote(to, false);
  }

  /** Refuses with this member's term, which frees a sender that is stuck in an older one (P37, P38). */
  refusePreVote(to: number): void {
    this.#answerPreVote(to, this.#state.term, false);
  }

  /** An answer of the current term counts while this member is a candidate in it (P35). */
  onVoteReply(message: VoteReply): void {
    this.#learnCommit(message);
    if (this.#phase === "candidate") {
      this.#votes.record(message.from, message.granted);
      this.#evaluateVotes();
    }
  }

  /** An answer of the current term: only refusals carry it. */
  onPreVoteReply(message: PreVoteReply): void {
    this.#learnCommit(message);
    if (this.#phase === "pre-candidate" && !message.granted) {
      this.#votes.record(message.from, false);
      this.#evaluateVotes();
    }
  }

  /** The leader transfers the leadership. This member obeys only the current leader. */
  onTimeoutNow(message: TimeoutNow): void {
    if (message.from === this.#leader && this.#isElectable()) {
      mark("raft.transfer.campaign");
      this.#becomeCandidate(true);
    }
  }

  #onPreVote(message: PreVote): void {
    if (!this.#eligibility.mayVote || !this.#isUpToDate(message)) {
      this.refusePreVote(message.from);
      return;
    }
    this.#answerPreVote(message.from, message.term, true);
  }

  /**
   * The voter knows that this entry is committed. If the entry changes the configuration, this candidacy rests on an
   * outdated configuration and ends (P15).
   */
  #learnCommit({ commit, commitTerm }: VoteReply | PreVoteReply): void {
    const { log, applied, commit: known } = this.#state;
    if (
      this.#leadership !== null ||
      this.#install.isPlaced ||
      commit <= known ||
      !this.#state.containsEntry(commit, commitTerm)
    ) {
      return;
    }
    mark("raft.vote.teaches-commit");
    this.#state.commitTo(commit);
    if (this.#phase !== "follower" && log.someType(applied + 1, commit, isConfigurationType)) {
      this.becomeFollower(0);
    }
  }

  #onPreVoteGranted(message: PreVoteReply): void {
    if (this.#phase === "pre-candidate" && message.term === this.#state.term + 1) {
      this.#votes.record(message.from, true);
      this.#evaluateVotes();
    }
  }

  #answerVote(to: number, granted: boolean): void {
    const { id, term, commit, log } = this.#state;
    const commitTerm = log.term(commit);
    this.#state.defer({ type: "vote-reply", from: id, to, term, granted, commit, commitTerm });
  }

  #answerPreVote(to: number, term: number, granted: boolean): void {
    const { id, commit, log } = this.#state;
    const commitTerm = log.term(commit);
    this.#state.send({ type: "pre-vote-reply", from: id, to, term, granted, commit, commitTerm });
  }

  /** A member that hears a leader keeps it: a member that is cut off or removed cannot depose it (P19). */
  #ignoresWhileInContact(message: Vote | PreVote): boolean {
    const isForTransfer = message.type === "vote" && message.transfer;
    const hearsLeader =
      this.#leader !== 0 && this.#state.tick - this.contactTick <= this.#state.limits.contactTicks && !isForTransfer;
    if (hearsLeader) {
      mark("raft.vote.ignored-in-contact");
    }
    return hearsLeader;
  }

  #isUpToDate(candidate: { readonly lastIndex: number; readonly lastTerm: number }): boolean {
    const { lastIndex, lastTerm } = this.#state.log;
    return candidate.lastTerm > lastTerm || (candidate.lastTerm === lastTerm && candidate.lastIndex >= lastIndex);
  }

  // ---- The role and its timer ----

  #enterPhase(phase: Phase, leader: number): void {
    const wasLeading = this.#phase === "leader";
    if (wasLeading || phase === "leader" || this.#leader !== leader) {
      // The leader that was asked, or that was about to be asked, does not answer any more.
      this.#state.reads.failAll();
    }
    if (this.#phase !== phase || this.#leader !== leader || phase === "candidate") {
      this.#hasChanged = true;
    }
    this.#phase = phase;
    this.#leader = leader;
  }

  #restartTimer(): void {
    this.#elapsedTicks = 0;
    this.#timeoutTicks = this.#drawTimeout();
    this.#goneTimeoutTicks = Number.POSITIVE_INFINITY;
  }

  #drawTimeout(): number {
    const { electionTicksMin, electionTicksMax } = this.#state.limits;
    return electionTicksMin + this.#random(electionTicksMax - electionTicksMin);
  }
}
