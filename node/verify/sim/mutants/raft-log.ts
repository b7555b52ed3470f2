/** Bugs in committed, stable, replicated and installed entries. */

import type { Mutant } from "./mutant.ts";

export const LOG_MUTANTS: readonly Mutant[] = [
  {
    name: "own-match-before-durable",
    pitfall: "P4",
    file: "raft/leadership.ts",
    find: "return voter === id ? log.stableIndex : (this.#peers.get(voter)?.match ?? 0);",
    replace: "return voter === id ? log.lastIndex : (this.#peers.get(voter)?.match ?? 0);",
  },
  {
    name: "old-term-committed-by-counting",
    pitfall: "P5",
    file: "raft/leadership.ts",
    find: "if (reached > commit && log.term(reached) === term) {",
    replace: "if (reached > commit) {",
  },
  {
    name: "old-write-makes-replacement-stable",
    pitfall: "P31",
    file: "raft/log.ts",
    find: "    this.#writeSeqs[slot] = UNWRITTEN;",
    replace: "    this.#writeSeqs[slot] ||= UNWRITTEN;",
  },
  {
    name: "all-handed-out-is-stable",
    pitfall: "P31",
    file: "raft/log.ts",
    find: `    while (this.#stable < this.#last && (this.#writeSeqs[(this.#stable + 1) % this.#capacity] as number) <= writeSeq) {`,
    replace: "    while (this.#stable < this.#written) {",
  },
  {
    name: "unstable-entry-applied",
    pitfall: "P43",
    file: "raft/core.ts",
    find: "Math.min(state.commit, state.log.stableIndex)",
    replace: "state.commit",
  },
  {
    name: "heartbeat-carries-commit",
    pitfall: "P51",
    file: "raft/leadership.ts",
    find: "const commit = Math.min(progress.match, this.#state.commit);",
    replace: "const { commit } = this.#state;",
  },
  {
    name: "commit-index-never-told-when-load-stops",
    pitfall: "P51",
    file: "raft/leadership.ts",
    find: "const commit = Math.min(progress.match, this.#state.commit);",
    replace: "const commit = Math.min(progress.match, this.#state.commit, this.#termStart);",
  },
  {
    name: "awaited-entry-told-with-the-next-heartbeat",
    pitfall: "P51",
    file: "raft/leadership.ts",
    find: "this.#peers.get(entryOriginMember(row))?.awaits(index);",
    replace: "",
  },
  {
    name: "watched-member-told-with-the-next-heartbeat",
    pitfall: "P51",
    file: "raft/leadership.ts",
    find: "progress.hasWaiters = message.watched;",
    replace: "progress.hasWaiters = false;",
  },
  {
    name: "grant-told-with-the-next-heartbeat",
    pitfall: "P56",
    file: "replica/apply/apply-loop.ts",
    find: "core.awaitAt(attempt.memberId, entryIndex(row));",
    replace: "",
  },
  {
    name: "append-commits-beyond-itself",
    pitfall: "P51",
    file: "raft/follower.ts",
    find: "this.#state.commitTo(Math.min(message.commit, lastNew));",
    replace: "this.#state.commitTo(Math.min(message.commit, log.lastIndex));",
  },
  {
    name: "lost-entries-never-asked-for",
    pitfall: "P39",
    file: "raft/progress.ts",
    find: 'return this.#state === "probe" || this.#isReplyRequested;',
    replace: 'return this.#state === "probe" && this.#isReplyRequested;',
  },
  {
    name: "committed-configuration-unanswered",
    pitfall: "P18",
    file: "raft/leadership.ts",
    find: "progress.wantsReply || progress.commit < this.#pendingConfigIndex;",
    replace: "progress.wantsReply;",
  },
  {
    name: "append-below-commit-looked-at",
    pitfall: "P29",
    file: "raft/follower.ts",
    find: "if (prevIndex < commit) {",
    replace: "if (prevIndex < log.firstIndex - 1) {",
  },
  {
    name: "matching-append-cuts-what-follows",
    pitfall: "P29",
    file: "raft/follower.ts",
    find: "if (log.term(index) === entryTerm(row)) {",
    replace: "if (log.term(index) === entryTerm(row) && index <= commit) {",
  },
  {
    name: "short-read-sent",
    pitfall: "P30",
    file: "raft/log.ts",
    find: "return this.#reader.entries(from, Math.min(to, this.#tailFirst - 1), maxBytes);",
    replace: "return this.#reader.entries(from, Math.min(to, this.#tailFirst - 1), maxBytes).slice(1);",
  },
  {
    name: "refusal-lowers-next-below-match",
    pitfall: "P34",
    file: "raft/progress.ts",
    find: `    if (index <= this.#match || this.#state === "snapshot") {
      return false;
    }
    if (this.#state === "probe" && index !== this.#next - 1) {
      return false;
    }
    this.#reset("probe");
    this.#next = Math.max(this.#match + 1, Math.min(index, hint + 1));`,
    replace: `    if (this.#state === "snapshot") {
      return false;
    }
    this.#reset("probe");
    this.#next = Math.max(1, Math.min(index, hint + 1));`,
  },
  {
    name: "refusal-of-an-old-probe-counts",
    pitfall: "P34",
    file: "raft/progress.ts",
    find: 'if (this.#state === "probe" && index !== this.#next - 1) {',
    replace: 'if (this.#state === "probe" && index > this.#next - 1) {',
  },
  {
    name: "match-beyond-the-own-log",
    pitfall: "P34",
    file: "raft/leadership.ts",
    find: "if (message.index > this.#state.log.lastIndex) {",
    replace: "if (message.index > this.#state.log.lastIndex + 1_000) {",
  },
  {
    name: "no-empty-append-after-a-heartbeat",
    pitfall: "P39",
    file: "raft/progress.ts",
    find: "          this.#isReplyRequested = true;",
    replace: "",
  },
  {
    name: "full-window-never-frees",
    pitfall: "P39",
    file: "raft/progress.ts",
    find: "          this.#window.freeOneIfFull();",
    replace: "",
  },
  {
    name: "lost-probe-waited-for",
    pitfall: "P40",
    file: "raft/progress.ts",
    find: `        this.#isProbeSent = false;
        this.#next = Math.max(`,
    replace: "        this.#next = Math.max(",
  },
  {
    name: "caught-up-peer-stays-in-probe",
    pitfall: "P40",
    file: "raft/progress.ts",
    find: '} else if (this.#state === "probe" && index === this.#match) {',
    replace: '} else if (this.#state === "probe" && grew) {',
  },
  {
    name: "follower-takes-any-amount",
    pitfall: "P41",
    file: "raft/follower.ts",
    find: "(this.#diskFull || log.unstableBytes + unappliedBytes > limits.followerBytesMax)",
    replace: "this.#diskFull",
  },
  {
    name: "uncommitted-entries-without-bound",
    pitfall: "P41",
    file: "raft/leadership.ts",
    find: "if (uncommittedFull || applyBehind) {",
    replace: "if (applyBehind) {",
  },
  {
    name: "unapplied-entries-without-bound",
    pitfall: "P41",
    file: "raft/leadership.ts",
    find: "if (uncommittedFull || applyBehind) {",
    replace: "if (uncommittedFull) {",
  },
  {
    name: "window-without-bytes",
    pitfall: "P41",
    file: "raft/progress.ts",
    find: "return this.#count >= this.#messagesMax || this.#bytes >= this.#limits.bytesMax;",
    replace: "return this.#count >= this.#messagesMax;",
  },
  {
    name: "full-disk-takes-entries",
    pitfall: "P45",
    file: "raft/follower.ts",
    find: "if (rows.length > 0 && (this.#diskFull || log",
    replace: "if (rows.length > 0 && (log",
  },
  {
    name: "match-of-a-damaged-peer-kept",
    pitfall: "P46",
    file: "raft/core.ts",
    find: "      this.#election.leadership?.forgetMatch(id);",
    replace: "",
  },
  {
    name: "stale-snapshot-installed",
    pitfall: "P25",
    file: "raft/install.ts",
    find: "if (this.#placed !== null || offer.index <= this.#state.commit) {",
    replace: "if (this.#placed !== null) {",
  },
  {
    name: "matching-snapshot-installed",
    pitfall: "P25",
    file: "raft/install.ts",
    find: "if (this.#state.containsEntry(offer.index, offer.entryTerm)) {",
    replace: "if (offer.index === this.#state.commit && this.#state.containsEntry(offer.index, offer.entryTerm)) {",
  },
  {
    name: "pending-snapshot-index-demanded",
    pitfall: "P26",
    file: "raft/progress.ts",
    find: "if (reached >= first - 1) {",
    replace: "if (reached >= first - 1 && reached > this.#snapshotIndex) {",
  },
  {
    name: "older-offer-replaces-a-newer",
    pitfall: "P26",
    file: "raft/install.ts",
    find: "if (this.#receiving !== null && offer.index < this.#receiving.index) {",
    replace: "if (this.#receiving !== null && offer.index < this.#state.commit) {",
  },
  {
    name: "other-snapshot-placed",
    pitfall: "P28",
    file: "raft/install.ts",
    find: "if (receiving === null || receiving.index !== index || receiving.entryTerm !== term) {",
    replace: "if (receiving === null) {",
  },
  {
    name: "append-during-the-switch",
    pitfall: "P28",
    file: "raft/follower.ts",
    find: `    this.#election.follow(message.from);
    if (this.#install.isPlaced) {`,
    replace: `    this.#election.follow(message.from);
    if (this.#install.isPlaced && message.rows.length === 0) {`,
  },
  {
    name: "log-goes-on-beside-an-install",
    pitfall: "P28",
    file: "raft/follower.ts",
    find: "      this.#install.cancel();",
    replace: "",
  },
];
