/** Bugs in reads, membership, transfer, and other duties of a leader in its term. */

import type { Mutant } from "./mutant.ts";

export const LEADERSHIP_MUTANTS: readonly Mutant[] = [
  {
    name: "no-empty-entry",
    pitfall: "P6",
    file: "raft/leadership.ts",
    find: `    this.#append(encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0)));
    this.#termStart`,
    replace: "    this.#termStart",
  },
  {
    name: "read-before-the-first-commit",
    pitfall: "P7",
    file: "raft/leadership.ts",
    find: `    if (!this.hasCommittedInTerm || reads.isEmpty) {
      return;
    }
    const position = quorumReached(configuration, (voter) => {
      return voter === id ? reads.position : (this.#peers.get(voter)?.readPosition ?? 0);
    });
    for (const { peer, boot, position: asked, index } of reads.confirm(position, this.#termStart, commit)) {`,
    replace: `    if (reads.isEmpty) {
      return;
    }
    const position = quorumReached(configuration, (voter) => {
      return voter === id ? reads.position : (this.#peers.get(voter)?.readPosition ?? 0);
    });
    for (const { peer, boot, position: asked, index } of reads.confirm(position, 0, commit)) {`,
  },
  {
    name: "read-without-a-round",
    pitfall: "P8",
    file: "raft/leadership.ts",
    find: "return voter === id ? reads.position : (this.#peers.get(voter)?.readPosition ?? 0);",
    replace: "return voter === id || this.#peers.has(voter) ? reads.position : 0;",
  },
  {
    name: "read-request-confirms-other-reads",
    pitfall: "P8",
    file: "raft/leadership.ts",
    find: `      this.#replyToRead(from, boot, position, commit);
      return;`,
    replace: `      reads.requestFor(from, boot, position, commit, tick);
      (this.#peers.get(from) as Progress).readPosition = reads.position;
      return;`,
  },
  {
    name: "read-request-answered-without-a-quorum",
    pitfall: "P8",
    file: "raft/leadership.ts",
    find: "if (this.hasCommittedInTerm && this.#isQuorumWith(from)) {",
    replace: "if (this.hasCommittedInTerm) {",
  },
  {
    name: "read-request-answered-before-the-first-commit",
    pitfall: "P7",
    file: "raft/leadership.ts",
    find: "if (this.hasCommittedInTerm && this.#isQuorumWith(from)) {",
    replace: "if (this.#isQuorumWith(from)) {",
  },
  {
    name: "read-request-of-a-damaged-member-counts",
    pitfall: "P46",
    file: "raft/leadership.ts",
    find: "!damagedPeers.has(peer) && quorumReached(",
    replace: "quorumReached(",
  },
  {
    name: "read-joins-the-round-under-way",
    pitfall: "P9",
    file: "raft/reads.ts",
    find: `    this.#position = safeCount(this.#position + 1, "read position");
    this.#requests.push(`,
    replace: `    this.#position = this.isEmpty ? safeCount(this.#position + 1, "read position") : this.#position;
    this.#requests.push(`,
  },
  {
    name: "read-of-a-former-boot-answered",
    pitfall: "P10",
    file: "raft/follower.ts",
    find: "if (message.from === this.#election.leader && message.boot === this.#state.boot) {",
    replace: "if (message.from === this.#election.leader) {",
  },
  {
    name: "reads-of-a-former-boot-kept",
    pitfall: "P10",
    file: "raft/core.ts",
    find: `      reads.forget(id);
    }`,
    replace: "    }",
  },
  {
    name: "reads-survive-the-leader",
    pitfall: "P10",
    file: "raft/election.ts",
    find: `      // The leader that was asked, or that was about to be asked, does not answer any more.
      this.#state.reads.failAll();`,
    replace: "",
  },
  {
    name: "reads-by-lease",
    pitfall: "P13",
    file: "raft/leadership.ts",
    find: `    const position = quorumReached(configuration, (voter) => {
      return voter === id ? reads.position : (this.#peers.get(voter)?.readPosition ?? 0);
    });`,
    replace: `    const isInContact = this.#state.tick - this.quorumHeardTick <= this.#state.limits.contactTicks;
    const position = isInContact ? reads.position : 0;`,
  },
  {
    name: "pending-index-not-raised-by-a-new-leader",
    pitfall: "P16",
    file: "raft/leadership.ts",
    find: "    this.#pendingConfigIndex = state.log.lastIndex;",
    replace: "    this.#pendingConfigIndex = state.applied;",
  },
  {
    name: "pending-index-not-raised-by-a-change",
    pitfall: "P16",
    file: "raft/leadership.ts",
    find: `      this.#append(row);
      this.#pendingConfigIndex = this.#state.log.lastIndex;`,
    replace: "      this.#append(row);",
  },
  {
    name: "joint-configuration-takes-changes",
    pitfall: "P16",
    file: "raft/configuration.ts",
    find: `  if (isJoint(before)) {
    return "change-in-progress";
  }`,
    replace: "",
  },
  {
    name: "removed-leader-counts-itself",
    pitfall: "P17",
    file: "raft/leadership.ts",
    find: `    const reached = quorumReached(configuration, (voter) => {
      return voter === id`,
    replace: `    const voters = [...new Set([...configuration.voters, id])];
    const reached = quorumReached({ ...configuration, voters }, (voter) => {
      return voter === id`,
  },
  {
    name: "removed-leader-leads-on",
    pitfall: "P17",
    file: "raft/leadership.ts",
    find: "!configuration.voters.includes(id) && this.isConfigurationKnownByQuorum) {",
    replace: "!configuration.voters.includes(id) && id < 0) {",
  },
  {
    name: "removed-leader-steps-down-at-once",
    pitfall: "P18",
    file: "raft/leadership.ts",
    find: "!configuration.voters.includes(id) && this.isConfigurationKnownByQuorum) {",
    replace: "!configuration.voters.includes(id)) {",
  },
  {
    name: "change-may-be-forgotten",
    pitfall: "P18",
    file: "raft/core-state.ts",
    find: "return this.#changeSeq === 0 ? this.#commit : this.#commitBefore;",
    replace: "return this.#commit;",
  },
  {
    name: "learner-promoted-unready",
    pitfall: "P21",
    file: "raft/leadership.ts",
    find: "if (!promoted.every((id) => isEligible(id) && this.#isReady(id))) {",
    replace: "if (!promoted.every((id) => isEligible(id))) {",
  },
  {
    name: "unsafe-quorum-accepted",
    pitfall: "P21",
    file: "raft/leadership.ts",
    find: 'return isSafe ? null : "quorum-unsafe";',
    replace: 'return isSafe || change.remove.length > 0 ? null : "quorum-unsafe";',
  },
  {
    name: "slow-rounds-count",
    pitfall: "P21",
    file: "raft/catch-up.ts",
    find: "this.#shortRounds = tick - this.#startedTick < ROUND_TICKS_MAX ? this.#shortRounds + 1 : 0;",
    replace: "this.#shortRounds++;",
  },
  {
    name: "joint-left-by-its-proposer-alone",
    pitfall: "P22",
    file: "raft/leadership.ts",
    find: "applied >= this.#pendingConfigIndex",
    replace: "configuration.index === this.#pendingConfigIndex",
  },
  {
    name: "second-leave-is-refused",
    pitfall: "P22",
    file: "raft/configuration.ts",
    find: "    return { ...before, index };",
    replace: "    return checked({ ...before, index, voters: [] });",
  },
  {
    name: "configuration-of-a-snapshot-ignored",
    pitfall: "P23",
    file: "raft/core.ts",
    find: "    state.configuration = configuration;",
    replace: "",
  },
  {
    name: "transfer-never-given-up",
    pitfall: "transfer",
    file: "raft/transfer.ts",
    find: "if (this.#target !== 0 && this.#state.tick >= this.#untilTick) {",
    replace: "if (this.#target !== 0 && this.#state.tick >= Number.MAX_SAFE_INTEGER) {",
  },
  {
    name: "transfer-outlives-the-term",
    pitfall: "transfer",
    file: "raft/transfer.ts",
    find: "  #target = 0;",
    replace: `  static readonly #targets = new WeakMap<object, number>();
  get #target(): number {
    return Transfer.#targets.get(this.#state) ?? 0;
  }
  set #target(id: number) {
    Transfer.#targets.set(this.#state, id);
  }`,
  },
  {
    name: "transfer-to-one-that-lags",
    pitfall: "transfer",
    file: "raft/transfer.ts",
    find: "|| this.#peers.get(this.#target)?.match !== log.lastIndex) {",
    replace: "|| this.#peers.get(this.#target)?.match === log.lastIndex + 1) {",
  },
];
