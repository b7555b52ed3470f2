/**
 * Elections: which role this member has, whom it follows, and for whom it votes (Raft, Ongaro 2014 §3.4, §9.6).
 *
 * A member that misses its leader first asks whether it would be elected (pre-vote) and enters a new term only if so.
 * Who hears a leader ignores elections, unless the leader itself asked for one. A vote is asked for only when the own
 * term and vote are durable (P54), the own vote counts only then (P4), and every answer waits for the write that holds
 * the vote (P1). What a leader does is in `Leadership`, made here and dropped here.
 */

import type { CoreState } from "./core-state.ts";
import { isConfigurationType } from "./entry.ts";
import type { Install } from "./install.ts";
import { Leadership } from "./leadership.ts";
import { mark } from "./mark.ts";
import type { Message, PreVote, PreVoteReply, TimeoutNow, Vote, VoteReply } from "./message.ts";
import { invariant } from "./violation.ts";
import { Votes } from "./votes.ts";

export type Role = "follower" | "candidate" | "leader";

/** Whether a member may vote and lead. */
export interface Fitness {
  readonly mayVote: boolean;
  readonly mayLead: boolean;
}

/** A pre-candidate is a candidate that has not entered the term yet that it wants to lead. */
type Phase = "follower" | "pre-candidate" | "candidate" | "leader";

/** Who knows that the leader's process is gone stands after one of so many ticks, drawn anew, so that few stand at once. */
const GONE_TICKS = 6;
/** A pre-candidate that has no answer yet asks again after so many ticks. */
const PRE_VOTE_TICKS = 4;

export class Election {
  readonly #state: CoreState;
  readonly #install: Install;
  /** A whole number in [0, bound). */
  readonly #random: (bound: number) => number;
  #phase: Phase = "follower";
  #leader = 0;
  #leadership: Leadership | null = null;
  #fitness: Fitness = { mayVote: false, mayLead: false };
  /** The write that carries the vote for oneself in the present term. */
  #selfVoteSeq = 0;
  #isSelfVoteDurable = false;
  #votes = new Votes();
  #elapsedTicks = 0;
  #timeoutTicks: number;
  /** Timeout once the process of the leader is known not to be there; infinity while it may be. */
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

  /** Id of the leader of the present term, 0 if unknown. */
  get leader(): number {
    return this.#leader;
  }

  /** What only a leader has; null in every other role. */
  get leadership(): Leadership | null {
    return this.#leadership;
  }

  /** Tick at which the leader was last heard, or, at the leader, a quorum; −∞ if never. */
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

  /** One tick passed. */
  tick(): void {
    if (this.#leadership !== null) {
      this.#leadership.tick(this.#fitness.mayLead);
      this.stepDownIfOver();
      return;
    }
    this.#elapsedTicks++;
    if (this.#elapsedTicks >= Math.min(this.#timeoutTicks, this.#goneTimeoutTicks)) {
      this.campaign();
    } else if (this.#phase === "pre-candidate" && this.#elapsedTicks % PRE_VOTE_TICKS === 0) {
      // Who has heard the leader a moment longer says nothing yet: asking changes nothing, and waiting costs a timeout.
      this.#askForPreVotes();
    }
  }

  /**
   * The process of the peer is not there. If it leads, it is not waited for any longer than it takes to stand one after
   * the other; should it be there all the same, its next word takes this back, and nobody who hears it votes.
   */
  peerGone(id: number): void {
    if (this.#phase === "follower" && this.#leader === id && this.#goneTimeoutTicks === Number.POSITIVE_INFINITY) {
      mark("raft.leader-gone");
      this.#leaderHeardTick = Number.NEGATIVE_INFINITY;
      this.#goneTimeoutTicks = this.#elapsedTicks + 1 + this.#random(GONE_TICKS);
    }
  }

  /** A leader that may not lead hands over if anybody can take over, else steps down; a candidate gives up. */
  setFitness(fitness: Fitness): void {
    this.#fitness = fitness;
    if (this.#leadership !== null) {
      const mayStay = fitness.mayLead || this.#leadership.isTransferring || this.#leadership.transferToBest() === null;
      if (!mayStay) {
        this.becomeFollower(0);
      }
    } else if (this.#phase !== "follower" && !(fitness.mayLead && fitness.mayVote)) {
      this.becomeFollower(0);
    }
  }

  /** A leadership that a rule has ended ends, in the same term. */
  stepDownIfOver(): void {
    if (this.#leadership?.isOver === true) {
      this.becomeFollower(0);
    }
  }

  // ---- Campaigns ----

  /** Asks whether this member would be elected, unless it may not be; returns whether it did. */
  campaign(): boolean {
    this.#restartTimer();
    if (!this.#isElectable()) {
      return false;
    }
    if (this.#phase === "candidate" && !this.#isSelfVoteDurable) {
      // No vote was asked for yet. A new term would need a new write: on a slow disk, for ever.
      return false;
    }
    mark("raft.pre-campaign");
    this.#stand("pre-candidate", 0);
    this.#votes = new Votes();
    this.#votes.record(this.#state.id, true);
    this.#askForPreVotes();
    this.#conclude();
    return true;
  }

  #askForPreVotes(): void {
    for (const to of this.#state.otherVoters) {
      this.#state.send({ type: "pre-vote", ...this.#candidacy(to), term: this.#state.term + 1 });
    }
  }

  /** The write is durable; if it holds the vote for oneself, that counts from now on (P4). */
  onDurable(writeSeq: number): void {
    if (this.#phase === "candidate" && this.#selfVoteSeq <= writeSeq) {
      this.#isSelfVoteDurable = true;
      this.#votes.record(this.#state.id, true);
      this.#conclude();
    }
  }

  #isElectable(): boolean {
    const { id, configuration, log, applied, commit } = this.#state;
    if (this.#phase === "leader" || !this.#fitness.mayLead || !this.#fitness.mayVote || this.#install.isUnderWay) {
      return false;
    }
    // An outgoing voter may be the only one left that has the joint configuration in its log.
    if (!configuration.voters.includes(id) && !configuration.outgoing.includes(id)) {
      return false;
    }
    // A committed change that is not applied yet may have taken the vote away (P15).
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
    this.#stand("candidate", 0);
    this.#votes = new Votes();
    this.#restartTimer();
    for (const to of this.#state.otherVoters) {
      this.#state.defer({ type: "vote", ...this.#candidacy(to), term: this.#state.term, transfer });
    }
  }

  #candidacy(to: number): { from: number; to: number; lastIndex: number; lastTerm: number } {
    const { id, log } = this.#state;
    return { from: id, to, lastIndex: log.lastIndex, lastTerm: log.lastTerm };
  }

  #conclude(): void {
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
    this.#stand("leader", this.#state.id);
    this.#leadership = new Leadership(this.#state);
  }

  // ---- Following ----

  /** Follows this leader, or with 0 nobody, in the present term. */
  becomeFollower(leader: number): void {
    if (this.#leadership !== null) {
      mark("raft.stepped-down");
      this.#leadership = null;
    }
    this.#stand("follower", leader);
    this.#restartTimer();
  }

  /** Enters a newer term as the follower of this leader, or with 0 of nobody known. */
  enterTerm(term: number, leader: number): void {
    this.#state.enterTerm(term);
    // What was asked in the old term is asked anew in this one.
    this.#state.reads.loseAll();
    this.#hasChanged = true;
    this.becomeFollower(leader);
  }

  /** The leader of the present term was heard. */
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
   * A message of a higher term: enters that term unless the message is of no account there. Returns whether the message
   * is to be looked at in its own term.
   */
  admit(message: Message): boolean {
    switch (message.type) {
      case "vote":
        if (this.#ignores(message)) {
          return false;
        }
        this.enterTerm(message.term, 0);
        return true;
      case "pre-vote":
        if (!this.#ignores(message)) {
          this.#onPreVote(message);
        }
        return false;
      case "pre-vote-reply":
        this.#learnCommit(message);
        // A grant is for the term after the own one, which this member has not entered.
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

  /** A request for the vote of the present term. */
  onVote(message: Vote): void {
    if (this.#ignores(message)) {
      return;
    }
    const isFree = this.#state.vote === 0 || this.#state.vote === message.from;
    const granted = isFree && this.#fitness.mayVote && this.#isUpToDate(message);
    if (granted) {
      invariant(this.#phase === "follower" || this.#phase === "pre-candidate", "a candidate has voted for itself");
      this.#state.voteFor(message.from);
      // Whoever has just voted gives that election its time.
      this.becomeFollower(this.#leader);
    }
    this.#answerVote(message.from, granted);
  }

  /** A request for the vote of a term that has passed: the candidate learns the present one (P37). */
  refuseVote(to: number): void {
    this.#answerVote(to, false);
  }

  /** Says no, with the own term, which frees a member that is stuck in an older one (P37, P38). */
  refusePreVote(to: number): void {
    this.#answerPreVote(to, this.#state.term, false);
  }

  /** An answer of the present term counts while this member is a candidate of it (P35). */
  onVoteReply(message: VoteReply): void {
    this.#learnCommit(message);
    if (this.#phase === "candidate") {
      this.#votes.record(message.from, message.granted);
      this.#conclude();
    }
  }

  /** An answer of the present term: only refusals carry it. */
  onPreVoteReply(message: PreVoteReply): void {
    this.#learnCommit(message);
    if (this.#phase === "pre-candidate" && !message.granted) {
      this.#votes.record(message.from, false);
      this.#conclude();
    }
  }

  /** The leader hands over: obeyed only if it is the present one. */
  onTimeoutNow(message: TimeoutNow): void {
    if (message.from === this.#leader && this.#isElectable()) {
      mark("raft.transfer.campaign");
      this.#becomeCandidate(true);
    }
  }

  #onPreVote(message: PreVote): void {
    if (!this.#fitness.mayVote || !this.#isUpToDate(message)) {
      this.refusePreVote(message.from);
      return;
    }
    this.#answerPreVote(message.from, message.term, true);
  }

  /**
   * The voter knows this entry to be committed. If it changes the configuration, the candidacy rests on one that has
   * passed, and ends (P15).
   */
  #learnCommit({ commit, commitTerm }: VoteReply | PreVoteReply): void {
    const { log, applied, commit: known } = this.#state;
    if (
      this.#leadership !== null ||
      this.#install.isPlaced ||
      commit <= known ||
      !this.#state.holds(commit, commitTerm)
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
      this.#conclude();
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

  /** Who hears a leader keeps it: a member that is cut off or removed cannot depose it (P19). */
  #ignores(message: Vote | PreVote): boolean {
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

  #stand(phase: Phase, leader: number): void {
    const wasLeading = this.#phase === "leader";
    if (wasLeading || phase === "leader" || this.#leader !== leader) {
      // Whoever was asked, or was to ask, will not answer any more.
      this.#state.reads.loseAll();
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
