/** Bugs in the driver: turns, waiters, snapshots, disk space, healing, joining. */

import type { Mutant } from "./mutant.ts";

export const REPLICA_MUTANTS: readonly Mutant[] = [
  {
    name: "handed-out-call-said-not-executed",
    pitfall: "P52",
    file: "replica/proposals/waiters.ts",
    find: "        this.refuse(waiter, deadlineError(waiter.proposal.stored !== null));",
    replace: "        this.refuse(waiter, waitReason(waiter as never));",
  },
  {
    name: "shutdown-says-not-executed",
    pitfall: "P52",
    file: "replica/proposals/waiters.ts",
    find: 'const outcome = waiter.state === "held" ? "not-executed" : "unknown";',
    replace: 'const outcome = "not-executed";',
  },
  {
    name: "removal-answered-before-it-lasts",
    pitfall: "P18",
    file: "replica/proposals/proposals.ts",
    find: "!isJoint(core.configuration) && core.configuration.index <= quorumKnownConfigIndex();",
    replace: "!isJoint(core.configuration);",
  },
  {
    name: "removed-told-before-it-lasts",
    pitfall: "P18",
    file: "replica/member/peer-directory.ts",
    find: "return this.#isDurable && configIndex <= this.#replica.quorumKnownConfigIndex ? this.#record.index : 0;",
    replace: "return this.#isDurable && configIndex > 0 ? this.#record.index : 0;",
  },
  {
    name: "waiters-fail-at-step-down",
    pitfall: "P52",
    file: "replica/driver/replica.ts",
    find: `      this.#tick.stop();
      this.#commitTimes.clear();`,
    replace: `      this.#tick.stop();
      this.#commitTimes.clear();
      this.#proposals.expire(0, 0, () => reasonToWait(this.#core, this.#limits));
      this.#proposals.refuseAll();`,
  },
  {
    name: "new-attempt-when-the-connection-is-lost",
    pitfall: "P56",
    file: "replica/driver/replica.ts",
    find: `    this.#core.peerUnreachable(peer);
    this.#leaderCalls.onUnreachable(peer);`,
    replace: `    this.#core.peerUnreachable(peer);
    this.#leaderCalls.onUnreachable(peer);
    const seqs = Array.from({ length: 1_000 }, (_, seq) => seq + 1);
    this.#proposals.onForwardRefused({ seqs, reason: "not-leader", leader: 0, term: 0 });`,
  },
  {
    name: "former-boot-answers-the-waiter",
    pitfall: "P56",
    file: "replica/apply/apply-loop.ts",
    find: "const isOwn = origin.memberId === memberId && origin.boot === boot;",
    replace: "const isOwn = origin.memberId === memberId;",
  },
  {
    name: "foreign-origin-answers-the-waiter",
    pitfall: "P56",
    file: "replica/apply/apply-loop.ts",
    find: "const isOwn = origin.memberId === memberId && origin.boot === boot;",
    replace: "const isOwn = origin.boot === boot;",
  },
  {
    name: "term-barrier-one-too-early",
    pitfall: "P56",
    file: "replica/proposals/waiters.ts",
    find: 'waiter.state === "handed-out" && waiter.term < term',
    replace: 'waiter.state === "handed-out" && waiter.term <= term',
  },
  {
    name: "waiters-ignore-snapshots",
    pitfall: "P56",
    file: "replica/driver/replica.ts",
    find: "    this.#proposals.onSnapshotInstalled(index, term);",
    replace: "",
  },
  {
    name: "snapshot-of-the-same-term-refutes",
    pitfall: "P56",
    file: "replica/proposals/waiters.ts",
    find: "isCertain: waiter.index !== 0 || term > waiter.term",
    replace: "isCertain: waiter.index !== 0 || term >= waiter.term",
  },
  {
    name: "forward-of-another-term-appended",
    pitfall: "P56",
    file: "replica/proposals/proposals.ts",
    find: 'if (core.role !== "leader" || core.term !== term) {',
    replace: 'if (core.role !== "leader") {',
  },
  {
    name: "forwarded-index-answers",
    pitfall: "P56",
    file: "replica/proposals/waiters.ts",
    find: 'if (atIndex?.state === "handed-out") {',
    replace: 'if (atIndex?.state === "handed-out" && term > atIndex.term) {',
  },
  {
    name: "ticks-before-frames",
    pitfall: "P55",
    file: "replica/driver/replica.ts",
    find: "    for (const frame of this.#frames.take()) {",
    replace: `    for (; this.#ticksDue > 1; this.#ticksDue--) {
      this.#core.tick();
    }
    for (const frame of this.#frames.take()) {`,
  },
  {
    name: "ticks-in-the-timer",
    pitfall: "P55",
    file: "replica/driver/replica.ts",
    find: "    this.#ticksDue = Math.min(this.#ticksDue + ticks, CATCH_UP_TICKS_MAX);",
    replace: `    for (let due = Math.min(ticks, CATCH_UP_TICKS_MAX); due > 1; due--) {
      this.#core.tick();
    }
    this.#ticksDue = Math.min(this.#ticksDue + 1, CATCH_UP_TICKS_MAX);`,
  },
  {
    name: "stall-made-up-for-wholly",
    pitfall: "P55",
    file: "replica/driver/replica.ts",
    find: "Math.min(this.#ticksDue + ticks, CATCH_UP_TICKS_MAX)",
    replace: "this.#ticksDue + ticks",
  },
  {
    name: "one-seed-for-all-members",
    pitfall: "P36",
    file: "replica/context/replica-context.ts",
    find: "seededRandom(memberId * 0x10001 + boot)",
    replace: "seededRandom(1)",
  },
  {
    name: "applied-before-the-read-index",
    pitfall: "P11",
    file: "replica/proposals/pending-reads.ts",
    find: "if (batch.index === null || batch.index > appliedIndex) {",
    replace: "if (batch.index === null) {",
  },
  {
    name: "read-served-without-asking",
    pitfall: "P8",
    file: "replica/driver/replica.ts",
    find: "this.#reads.add(this.#clock.monotonicMs(), deadlineMs, done, trace);",
    replace: "done(null);",
  },
  {
    name: "lost-read-keeps-its-position",
    pitfall: "P9",
    file: "replica/proposals/pending-reads.ts",
    find: "        this.#unrequested.push(...batch.reads);",
    replace: "        kept.push(batch);",
  },
  {
    name: "compaction-ignores-streams",
    pitfall: "P27",
    file: "replica/snapshots/snapshots.ts",
    find: "let needed = Math.min(this.#outgoing.neededFrom, this.backups.retainedFrom);",
    replace: "let needed = this.backups.retainedFrom;",
  },
  {
    name: "compaction-ignores-followers",
    pitfall: "P27",
    file: "replica/context/compaction.ts",
    find: "const needed = Math.max(neededFrom - 1, this.#lastBehind(neededBytes));",
    replace: "const needed = Math.max(neededFrom, this.#applied);",
  },
  {
    name: "compaction-beyond-the-durable-state",
    pitfall: "P42",
    file: "replica/context/compaction.ts",
    find: "const drop = Math.min(durable, kept, needed);",
    replace: "const drop = Math.min(this.#applied, kept, needed);",
  },
  {
    name: "older-install-goes-on",
    pitfall: "P28",
    file: "replica/snapshots/snapshot-install.ts",
    find: `      this.#drop();
      this.#receive(manifest, incoming);`,
    replace: "      this.#receive(manifest, incoming);",
  },
  {
    name: "cut-snapshot-installed",
    pitfall: "P28",
    file: "replica/snapshots/snapshot-install.ts",
    find: '      trailer.rows === receiving.rows &&\n      trailer.sha256 === receiving.digest.digest("hex");',
    replace: "      trailer.rows >= receiving.rows;",
  },
  {
    name: "log-reset-before-the-state-is-placed",
    pitfall: "P58",
    file: "replica/driver/replica.ts",
    find: "this.#core.drain(!this.#writing && !this.#snapshots.isPlacing)",
    replace: "this.#core.drain(!this.#writing)",
  },
  {
    name: "applying-goes-on-beside-an-install",
    pitfall: "P58",
    file: "replica/snapshots/snapshots.ts",
    find: "    if (this.#applyLoop.isAtRest) {",
    replace: "    if (this.#install.isReady) {",
  },
  {
    name: "one-full-member-stops-all",
    pitfall: "P45",
    file: "replica/apply/cluster-disk-space.ts",
    find: "return such.length * 2 > voters.length;",
    replace: "return such.length > 0;",
  },
  {
    name: "diverged-member-goes-on",
    pitfall: "P44",
    file: "replica/apply/apply-loop.ts",
    find: "      if (divergence !== null) {",
    replace: "      if (divergence !== null && from < 0) {",
  },
  {
    name: "leader-stops-for-one-that-differs",
    pitfall: "P44",
    file: "replica/apply/state-comparison.ts",
    find: "    const isMost = others.length * 2 > voters.length;",
    replace: "    const isMost = others.length > 0;",
  },
  {
    name: "state-of-one-checked-against-all",
    pitfall: "P44",
    file: "replica/apply/state-comparison.ts",
    find: "    return byMost > 0 || isOpen ? byMost : ",
    replace: "    return own > 0 ? own : ",
  },
  {
    name: "deleting-needs-room",
    pitfall: "P45",
    file: "replica/proposals/proposals.ts",
    find: "if (this.#options.hasCapacity() || !isGrowing(decodeCommand(waiter.proposal.payload))) {",
    replace: "if (this.#options.hasCapacity()) {",
  },
  {
    name: "full-leader-leads-on",
    pitfall: "P45",
    file: "replica/context/eligibility.ts",
    find: "const isHindered = this.#isStalled || diskFull || this.#isLeaving;",
    replace: "const isHindered = this.#isStalled || this.#isLeaving;",
  },
  {
    name: "healed-without-a-read-point",
    pitfall: "P46",
    file: "replica/driver/data-loss-recovery.ts",
    find: "return this.#core.commitIndex >= this.#readIndex && this.#core.stableIndex >= this.#readIndex;",
    replace: "return this.#core.commitIndex >= 0;",
  },
  {
    name: "healed-before-it-is-durable",
    pitfall: "P46",
    file: "replica/driver/data-loss-recovery.ts",
    find: "return this.#core.commitIndex >= this.#readIndex && this.#core.stableIndex >= this.#readIndex;",
    replace: "return this.#core.commitIndex >= this.#readIndex;",
  },
  {
    name: "damage-forgotten-by-the-next-write",
    pitfall: "P46",
    file: "replica/context/eligibility.ts",
    find: `    this.#writingSinceMs = null;
    this.#isStalled = false;`,
    replace: `    this.#writingSinceMs = null;
    this.#isStalled = false;
    this.#damaged = false;`,
  },
  {
    name: "seeds-not-asked",
    pitfall: "P47",
    file: "replica/member/joining.ts",
    find: "const answers = this.#hasSlot ? new Map<string, JoinAnswer>() : await this.#poller.pollAll();",
    replace: "const answers = new Map<string, JoinAnswer>();",
  },
  {
    name: "frames-of-a-former-boot-kept",
    pitfall: "P34",
    file: "replica/driver/incoming-frames.ts",
    find: `      this.#control = this.#control.filter((frame) => frame.peer !== peer);
      this.#log = this.#log.filter((frame) => frame.peer !== peer);`,
    replace: "",
  },
  {
    name: "principals-take-no-turns",
    pitfall: "limits",
    file: "replica/proposals/held-calls.ts",
    find: `    this.#turns.remove(lane);
    this.#turns.push(lane);
  }`,
    replace: "  }",
  },
  {
    name: "open-work-not-shared",
    pitfall: "limits",
    file: "replica/proposals/held-calls.ts",
    find: "lane.openWork + proposal.work < this.#openWorkMax - this.#openWork;",
    replace: "proposal.work < this.#openWorkMax - this.#openWork;",
  },
  {
    name: "work-is-bytes-only",
    pitfall: "limits",
    file: "replica/context/proposal.ts",
    find: " + rows * ROW_WORK",
    replace: "",
  },
  {
    name: "large-command-passed-for-ever",
    pitfall: "limits",
    file: "replica/proposals/held-calls.ts",
    find: "lane.openWork > 0 && passed < this.#turnCount",
    replace: "passed < this.#turnCount",
  },
  {
    name: "lost-frames-keep-their-room",
    pitfall: "limits",
    file: "replica/proposals/proposals.ts",
    find: "    if (peer === this.#context.core.leader) {\n      this.#waiters.closeAll();\n    }",
    replace: "",
  },
  {
    name: "ttl-by-the-wall-clock",
    pitfall: "TTL",
    file: "replica/proposals/proposals.ts",
    find: "    const tickMs = tick.nowMs;",
    replace: "    const tickMs = clock.wallMs();",
  },
  {
    name: "cluster-tick-starts-anew",
    pitfall: "TTL",
    file: "replica/context/cluster-tick.ts",
    find: "      this.onLeaderTick(this.#running.term, this.nowMs);\n",
    replace: "",
  },
  {
    name: "cluster-tick-goes-on-without-a-leader",
    pitfall: "TTL",
    file: "replica/context/cluster-tick.ts",
    find: `      this.onLeaderTick(this.#running.term, this.nowMs);
      this.#running = null;`,
    replace: "      this.onLeaderTick(this.#running.term, this.nowMs);",
  },
  {
    name: "cluster-tick-of-a-former-leader",
    pitfall: "TTL",
    file: "replica/context/cluster-tick.ts",
    find: "return this.#received.term >= this.#lastTerm ? Math.max(this.#loggedMs, this.#received.tickMs) : this.#loggedMs;",
    replace: "return Math.max(this.#loggedMs, this.#received.tickMs);",
  },
  {
    name: "version-raised-while-one-cannot",
    pitfall: "upgrade",
    file: "replica/leader/version-raise.ts",
    find: "    return members.every(({ id, incarnation }) => {",
    replace: "    return members.some(({ id, incarnation }) => {",
  },
  {
    name: "version-raised-for-a-member-that-is-away",
    pitfall: "upgrade",
    file: "replica/leader/version-raise.ts",
    find: '(transport.isConnected(id, "control") && (this.#announced.get(id) ?? 0) > version)',
    replace: "(this.#announced.get(id) ?? 0) > version",
  },
  {
    name: "version-of-a-former-start-counts",
    pitfall: "upgrade",
    file: "replica/leader/version-raise.ts",
    find: "      this.#announced.delete(peer);",
    replace: "",
  },
  {
    name: "cluster-version-skips-a-step",
    pitfall: "upgrade",
    file: "state/core/cluster.ts",
    find: "  if (version !== cluster.version + 1) {",
    replace: "  if (version <= cluster.version) {",
  },
];
