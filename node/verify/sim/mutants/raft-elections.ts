/** Bugs in elections, votes and the writes that they wait for. */

import type { Mutant } from "./mutant.ts";

export const ELECTION_MUTANTS: readonly Mutant[] = [
  {
    name: "vote-reply-before-durable",
    pitfall: "P1",
    file: "raft/core-state.ts",
    find: "if (!this.writes.defer(message, this.log.hasUnwritten)) {",
    replace: 'if (message.type === "vote-reply" || !this.writes.defer(message, this.log.hasUnwritten)) {',
  },
  {
    name: "vote-not-written",
    pitfall: "P1",
    file: "raft/core-state.ts",
    find: `      this.#vote = id;
      this.writes.markDirty();`,
    replace: "      this.#vote = id;",
  },
  {
    name: "append-reply-before-durable",
    pitfall: "P2",
    file: "raft/core-state.ts",
    find: "if (!this.writes.defer(message, this.log.hasUnwritten)) {",
    replace: 'if (message.type === "append-reply" || !this.writes.defer(message, this.log.hasUnwritten)) {',
  },
  {
    name: "reply-waits-for-the-write-in-flight-only",
    pitfall: "P2",
    file: "raft/writes.ts",
    find: "const writeSeq = this.#isDirty || hasUnwritten ? this.nextSeq : this.#inFlight;",
    replace: "const writeSeq = this.#isDirty ? this.nextSeq : this.#inFlight;",
  },
  {
    name: "vote-asked-for-at-once",
    pitfall: "P54",
    file: "raft/election.ts",
    find: 'this.#state.defer({ type: "vote", ...this.#candidateFields(to), term: this.#state.term, transfer });',
    replace: 'this.#state.send({ type: "vote", ...this.#candidateFields(to), term: this.#state.term, transfer });',
  },
  {
    name: "own-vote-counted-by-an-earlier-write",
    pitfall: "P4",
    file: "raft/election.ts",
    find: 'if (this.#phase === "candidate" && this.#selfVoteSeq <= writeSeq) {',
    replace: 'if (this.#phase === "candidate") {',
  },
  {
    name: "campaign-with-unapplied-change",
    pitfall: "P15",
    file: "raft/election.ts",
    find: "if (log.someType(applied + 1, commit, isConfigurationType)) {",
    replace: "if (commit < applied && log.someType(applied + 1, commit, isConfigurationType)) {",
  },
  {
    name: "candidacy-survives-a-taught-change",
    pitfall: "P15",
    file: "raft/election.ts",
    find: `    this.#state.commitTo(commit);
    if (this.#phase !== "follower" &&`,
    replace: `    this.#state.commitTo(commit);
    if (this.#phase === "leader" &&`,
  },
  {
    name: "vote-in-spite-of-a-leader",
    pitfall: "P19",
    file: "raft/election.ts",
    find: "    return hearsLeader;",
    replace: "    return false;",
  },
  {
    name: "learner-refuses-its-vote",
    pitfall: "P20",
    file: "raft/election.ts",
    find: "const granted = isFree && this.#eligibility.mayVote && this.#isUpToDate(message);",
    replace: `const isVoter = this.#state.configuration.voters.includes(this.#state.id);
    const granted = isFree && isVoter && this.#eligibility.mayVote && this.#isUpToDate(message);`,
  },
  {
    name: "vote-for-a-shorter-log",
    pitfall: "P5",
    file: "raft/election.ts",
    find: "(candidate.lastTerm === lastTerm && candidate.lastIndex >= lastIndex)",
    replace: "candidate.lastTerm === lastTerm",
  },
  {
    name: "later-answer-of-a-voter-counts",
    pitfall: "P35",
    file: "raft/votes.ts",
    find: "if (!this.#answers.has(voter)) {",
    replace: "if (granted || !this.#answers.has(voter)) {",
  },
  {
    name: "late-vote-counts-as-pre-vote",
    pitfall: "P35",
    file: "raft/election.ts",
    find: `    this.#learnCommit(message);
    if (this.#phase === "candidate") {`,
    replace: `    this.#learnCommit(message);
    if (this.#phase === "candidate" || this.#phase === "pre-candidate") {`,
  },
  {
    name: "pre-vote-counts-as-vote",
    pitfall: "P35",
    file: "raft/election.ts",
    find: `    if (this.#phase === "pre-candidate" && !message.granted) {
      this.#votes.record(message.from, false);`,
    replace: `    if (this.#phase === "candidate" || (this.#phase === "pre-candidate" && !message.granted)) {
      this.#votes.record(message.from, message.granted);`,
  },
  {
    name: "votes-survive-into-the-candidacy",
    pitfall: "P35",
    file: "raft/election.ts",
    find: `    this.#enterPhase("candidate", 0);
    this.#votes = new Votes();`,
    replace: '    this.#enterPhase("candidate", 0);',
  },
  {
    name: "constant-election-timeout",
    pitfall: "P36",
    file: "raft/election.ts",
    find: "return electionTicksMin + this.#random(electionTicksMax - electionTicksMin);",
    replace: "return electionTicksMin;",
  },
  {
    name: "timeout-drawn-once",
    pitfall: "P36",
    file: "raft/election.ts",
    find: `    this.#elapsedTicks = 0;
    this.#timeoutTicks = this.#drawTimeout();`,
    replace: "    this.#elapsedTicks = 0;",
  },
  {
    name: "pre-vote-of-lower-term-dropped",
    pitfall: "P37",
    file: "raft/core.ts",
    find: `      case "pre-vote":
        this.#election.refusePreVote(message.from);
        return;
      case "vote":
        this.#election.refuseVote(message.from);`,
    replace: `      case "vote":
        this.#election.refuseVote(message.from);`,
  },
  {
    name: "lower-terms-dropped",
    pitfall: "P38",
    file: "raft/core.ts",
    find: "      this.#answerOldTerm(message);",
    replace: "",
  },
  {
    name: "check-quorum-never-steps-down",
    pitfall: "P38",
    file: "raft/leadership.ts",
    find: "if (tick - this.quorumHeardTick > limits.contactTicks) {",
    replace: "if (tick - this.quorumHeardTick > limits.contactTicks * 1_000) {",
  },
  {
    name: "damaged-member-votes",
    pitfall: "P46",
    file: "raft/election.ts",
    find: "if (!this.#eligibility.mayVote || !this.#isUpToDate(message)) {",
    replace: "if (!this.#isUpToDate(message)) {",
  },
  {
    name: "leader-taken-for-gone-for-good",
    pitfall: "P19",
    file: "raft/election.ts",
    find: `    this.#elapsedTicks = 0;
    this.#goneTimeoutTicks = Number.POSITIVE_INFINITY;`,
    replace: "    this.#elapsedTicks = 0;",
  },
];
