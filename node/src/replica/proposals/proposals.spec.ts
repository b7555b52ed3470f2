import { expect } from "chai";
import {
  drainCore,
  FakeTime,
  follow,
  followingCore,
  leadingCore,
  ScriptedTransport,
} from "../../../test/harness/index.ts";
import { ANNA, AppliedLog, addUser, OWNER, putOf, requestOf } from "../../../test/index.ts";
import { decodeForward, decodeForwarded, decodeForwardRefused, FrameType } from "../../peers/index.ts";
import { EntryType, encodeEntry, entryEnvelope, NO_ENVELOPE, type RaftCore, sealEntry } from "../../raft/index.ts";
import {
  CoordinationError,
  encodeCommand,
  encodeMembershipEntry,
  type MembershipOperation,
  type Outcome,
  type RequestIdentity,
} from "../../state/index.ts";
import { ClusterTick, type Proposal, proposalOf, ReplicaStatistics } from "../context/index.ts";
import { Proposals } from "./proposals.ts";

const WINDOW_MS = 60_000;
const noLeader = (): CoordinationError => new CoordinationError("NO_LEADER", "no leader");

describe("Proposals", () => {
  let time: FakeTime;
  let transport: ScriptedTransport;
  let applied: AppliedLog;
  let answers: string[];
  let hasRoom: boolean;
  let holds: number;
  beforeEach(() => {
    time = new FakeTime();
    transport = new ScriptedTransport(time);
    applied = new AppliedLog();
    answers = [];
    hasRoom = true;
    holds = 0;
  });

  function over(core: RaftCore, limits: { perTurn?: number; workMax?: number } = {}): Proposals {
    const context = {
      statistics: new ReplicaStatistics(),
      timeline: null,
      memberId: core.id,
      boot: 1,
      core,
      state: applied.store,
      transport,
      clock: time,
      tick: new ClusterTick(time, applied.tickMs),
      limits: {
        proposalsPerTurn: limits.perTurn ?? 100,
        proposalWorkMax: limits.workMax ?? 1e6,
        state: { replayWindowMs: WINDOW_MS },
      },
      arm: () => undefined,
    };
    return new Proposals(context, {
      hasCapacity: () => hasRoom,
      quorumKnownConfigIndex: () => core.quorumKnownConfigIndex,
      backOff: () => {
        holds++;
      },
    });
  }

  function add(proposals: Proposals, name: string, proposal: Proposal, timeoutMs = 10_000): void {
    proposals.add(proposal, time.monotonicMs() + timeoutMs, (error, outcome) => {
      answers.push(`${name}: ${error === null ? wordOf(outcome) : `${error.reason} ${error.outcome}`}`);
    });
  }

  function wordOf(outcome: Outcome | null): string {
    const answer = outcome?.answer;
    return answer instanceof CoordinationError ? answer.reason : (answer?.kind ?? "none");
  }

  function putting(request: RequestIdentity, key = "k", { subject } = OWNER): Proposal {
    const payload = encodeCommand({ principal: OWNER, request, operation: putOf(key, "v") });
    return {
      type: EntryType.Command,
      payload,
      work: payload.length,
      subject,
      stored: { subject: OWNER.subject, request },
    };
  }

  /** The key under which the answer of a proposal is stored. */
  function identityOf({ stored }: Proposal): RequestIdentity {
    return stored?.request ?? expect.fail("its answer is stored");
  }

  function changing(operation: MembershipOperation): Proposal {
    const type = operation.kind === "add-slot" ? EntryType.AddSlot : EntryType.Reconfigure;
    const payload = encodeMembershipEntry({ subject: "spec", request: null, expectIndex: 0, operation });
    return { type, payload, work: payload.length, subject: "", stored: null };
  }

  /** Attempts that were forwarded since the last look. */
  function forwarded(): { readonly term: number; readonly seqs: readonly number[] }[] {
    return transport.take(FrameType.Forward).map((body) => {
      const { term, attempts } = decodeForward(body);
      return { term, seqs: attempts.map(({ seq }) => seq) };
    });
  }

  /** An entry, with the attempt of member 2 in it if `seq` is not 0. */
  function entry(index: number, term: number): Uint8Array {
    const row = encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0));
    sealEntry(row, term, index, () => 0);
    return row;
  }

  describe("at a follower", () => {
    it("S36: names the term of the leader that an attempt is meant for, and sends it once", () => {
      const proposals = over(followingCore());
      add(proposals, "a", putting(requestOf(1)));
      add(proposals, "b", putting(requestOf(2)));
      proposals.handOut();
      proposals.handOut();
      expect(forwarded()).to.deep.equal([{ term: 5, seqs: [1, 2] }]);
    });

    it("hands out no more calls than a turn may, in order", () => {
      const proposals = over(followingCore(), { perTurn: 2 });
      for (let at = 1; at <= 5; at++) {
        add(proposals, `${at}`, putting(requestOf(at)));
      }
      for (let turns = 0; turns < 4; turns++) {
        proposals.handOut();
      }
      expect(forwarded().map(({ seqs }) => seqs)).to.deep.equal([[1, 2], [3, 4], [5]]);
    });

    it("lets a principal's work wait for the outcomes of its earlier ones, and others pass", () => {
      const proposals = over(followingCore(), { workMax: 1_000 });
      for (let at = 1; at <= 3; at++) {
        add(proposals, `${at}`, putting(requestOf(at), "k".repeat(300)));
      }
      add(proposals, "of Anna", putting(requestOf(4), "k", ANNA));
      proposals.handOut();
      expect(forwarded().map(({ seqs }) => seqs)).to.deep.equal([[1, 4]]);
      proposals.answer(1, null);
      proposals.handOut();
      expect(forwarded().map(({ seqs }) => seqs)).to.deep.equal([[2]]);
    });

    it("counts the work of a caller that is gone until their outcome, or until the connection ends", () => {
      const proposals = over(followingCore(), { workMax: 1_000 });
      const leave = proposals.add(putting(requestOf(1), "k".repeat(300)), 10_000, () => undefined);
      add(proposals, "2", putting(requestOf(2), "k".repeat(300)));
      proposals.handOut();
      leave();
      proposals.handOut();
      expect(forwarded().map(({ seqs }) => seqs)).to.deep.equal([[1]]);
      proposals.onUnreachable(2);
      proposals.handOut();
      expect(forwarded(), "it is not the leader").to.deep.equal([]);
      proposals.onUnreachable(1);
      proposals.handOut();
      expect(forwarded().map(({ seqs }) => seqs)).to.deep.equal([[2]]);
    });

    it("S36: refuses as overloaded what waited for the work of others in vain", () => {
      const proposals = over(followingCore(), { workMax: 1_000 });
      add(proposals, "out", putting(requestOf(1), "k".repeat(300)), 60_000);
      add(proposals, "late", putting(requestOf(2), "k".repeat(300)), 60_000);
      proposals.handOut();
      proposals.expire(time.monotonicMs() + 3_000, time.monotonicMs() + 3_100, noLeader);
      expect(answers).to.deep.equal(["late: OVERLOADED not-executed"]);
    });

    it("S36: holds what no connection takes, and what has no leader, and hands it out later under the same number", () => {
      const core = followingCore();
      const proposals = over(core);
      transport.away.add(1);
      add(proposals, "a", putting(requestOf(1)));
      proposals.handOut();
      expect([holds, answers, proposals.size]).to.deep.equal([1, [], 1]);
      transport.away.clear();
      proposals.handOut();
      expect(forwarded()).to.deep.equal([{ term: 5, seqs: [1] }]);
      const led = over(followingCore(0));
      add(led, "b", putting(requestOf(1)));
      led.handOut();
      expect(forwarded()).to.deep.equal([]);
    });

    it("REFUSED makes a new attempt under a new number, whatever passes by itself", () => {
      for (const reason of ["not-leader", "transferring", "no-quorum", "overloaded", "a word of later releases"]) {
        const proposals = over(followingCore());
        add(proposals, reason, putting(requestOf(1)));
        proposals.handOut();
        proposals.onForwardRefused({ seqs: [1], reason, leader: 0, term: 5 });
        expect(answers).to.deep.equal([]);
        proposals.handOut();
        expect(forwarded(), reason).to.deep.equal([
          { term: 5, seqs: [1] },
          { term: 5, seqs: [2] },
        ]);
        proposals.onForwardRefused({ seqs: [1], reason, leader: 0, term: 5 });
        proposals.handOut();
        expect(forwarded(), "said of the former attempt").to.deep.equal([]);
      }
      expect(holds, "the next attempt waits for a tick").to.be.greaterThan(0);
    });

    it("S36: a call that is refused again and again is held to the end of its time, and not executed", () => {
      const proposals = over(followingCore());
      add(proposals, "a", putting(requestOf(1)), 1_000);
      for (let at = 1; answers.length === 0; at++) {
        proposals.handOut();
        proposals.onForwardRefused({ seqs: [at], reason: "no-quorum", leader: 1, term: 5 });
        proposals.expire(time.monotonicMs(), time.monotonicMs() + 50, noLeader);
        time.stall(50);
        expect(at).to.be.lessThan(20);
      }
      expect(answers).to.deep.equal(["a: NO_LEADER not-executed"]);
    });

    it("a change that waits for another one delays no other call, and reports in the end what it waited for", () => {
      const proposals = over(followingCore());
      add(proposals, "change", changing({ kind: "reconfigure", promote: [], demote: [], remove: [3] }), 1_000);
      proposals.handOut();
      expect(forwarded()).to.have.length(1);
      proposals.onForwardRefused({ seqs: [1], reason: "change-in-progress", leader: 1, term: 5 });
      add(proposals, "put", putting(requestOf(1)), 1_000);
      proposals.handOut();
      expect(forwarded(), "the put alone").to.have.length(1);
      expect(holds).to.equal(0);
      time.stall(50);
      proposals.handOut();
      expect(forwarded(), "the change again").to.have.length(1);
      proposals.onForwardRefused({ seqs: [2], reason: "change-in-progress", leader: 1, term: 5 });
      proposals.expire(time.monotonicMs() + 860, time.monotonicMs() + 910, noLeader);
      expect(answers).to.include("change: CONFIG_CHANGE_IN_PROGRESS not-executed");
    });

    it("P45: a leader without room refuses a call for good", () => {
      const proposals = over(followingCore());
      add(proposals, "a", putting(requestOf(1)));
      proposals.handOut();
      proposals.onForwardRefused({ seqs: [1], reason: "storage-full", leader: 1, term: 5 });
      expect(answers).to.deep.equal(["a: STORAGE_FULL not-executed"]);
    });

    it("a change of the membership hears why it is not allowed, and is held for what passes by itself", () => {
      const results = new Map<string, string>();
      const changes = ["change-in-progress", "config-changed", "is-leader", "learner-not-ready", "quorum-unsafe"];
      for (const reason of [...changes, "last-voter", "unknown-member", "no-quorum", "transferring"]) {
        const proposals = over(followingCore());
        answers = [];
        add(proposals, "change", changing({ kind: "reconfigure", promote: [], demote: [], remove: [3] }));
        proposals.handOut();
        proposals.onForwardRefused({ seqs: [1], reason, leader: 1, term: 5 });
        results.set(reason, answers[0]?.replace("change: ", "") ?? "held");
      }
      expect(Object.fromEntries(results)).to.deep.equal({
        "change-in-progress": "held",
        "config-changed": "CONFIG_CHANGED not-executed",
        "is-leader": "IS_LEADER not-executed",
        "learner-not-ready": "LEARNER_NOT_READY not-executed",
        "quorum-unsafe": "QUORUM_UNSAFE not-executed",
        "last-voter": "LAST_VOTER not-executed",
        "unknown-member": "MEMBER_NOT_FOUND not-executed",
        "no-quorum": "held",
        transferring: "held",
      });
    });

    it("frames that never left make new attempts of all that are in them", () => {
      const proposals = over(followingCore());
      add(proposals, "a", putting(requestOf(1)));
      add(proposals, "b", putting(requestOf(2)));
      proposals.handOut();
      const frames = transport.sent.splice(0).map(({ frame }) => frame);
      proposals.onUnsent([{ type: FrameType.AppendReply, body: new Uint8Array(1) }, ...frames]);
      proposals.handOut();
      expect(forwarded()).to.deep.equal([{ term: 5, seqs: [3, 4] }]);
    });

    it("P52: a new leader, or no leader, proves nothing", () => {
      const core = followingCore();
      const proposals = over(core);
      add(proposals, "a", putting(requestOf(1)));
      proposals.handOut();
      forwarded();
      follow(core, 3, 6);
      proposals.handOut();
      proposals.expire(time.monotonicMs(), time.monotonicMs() + 50, noLeader);
      expect([forwarded(), answers]).to.deep.equal([[], []]);
    });

    it("P56: an entry of a later term refutes it, another at its index too; an index alone answers no caller", () => {
      for (const [name, row, isRefuted] of [
        ["before it, in its term", entry(8, 5), false],
        ["at its index, in its term", entry(9, 5), true],
        ["before it, in a later term", entry(8, 6), true],
        ["behind it, in its term", entry(10, 5), false],
      ] as const) {
        const proposals = over(followingCore());
        add(proposals, name, putting(requestOf(1)));
        proposals.handOut();
        proposals.onForwarded({ term: 5, appended: [{ seq: 1, index: 9 }] });
        forwarded();
        proposals.applied(row, 0);
        proposals.handOut();
        expect([forwarded().length, answers.length], name).to.deep.equal([isRefuted ? 1 : 0, 0]);
      }
    });

    it("P56: what a leader of another term says of an index does not count", () => {
      const proposals = over(followingCore());
      add(proposals, "a", putting(requestOf(1)));
      proposals.handOut();
      forwarded();
      proposals.onForwarded({ term: 4, appended: [{ seq: 1, index: 9 }] });
      proposals.applied(entry(9, 5), 0);
      proposals.handOut();
      expect(forwarded()).to.deep.equal([]);
    });
  });

  describe("when a snapshot takes the place of the state", () => {
    const S = 20;
    /** Whether an answer is stored: of this request, of its id with another payload, or none. */
    type Stored = "its own" | "another payload" | "none";
    const table: readonly {
      readonly name: string;
      readonly index?: number;
      readonly snapshotTerm: number;
      readonly stored?: Stored;
      readonly kind?: "leaves no answer";
      readonly ageMs?: number;
      readonly becomes: string;
    }[] = [
      { name: "of an earlier term than the attempt", snapshotTerm: 4, becomes: "waits" },
      { name: "of an earlier term, index known", index: S, snapshotTerm: 4, becomes: "waits" },
      { name: "that ends before its index", index: S + 1, snapshotTerm: 5, becomes: "waits" },
      {
        name: "that ends at its index, answer stored",
        index: S,
        snapshotTerm: 5,
        stored: "its own",
        becomes: "put-key",
      },
      { name: "behind its index, answer stored", index: 3, snapshotTerm: 6, stored: "its own", becomes: "put-key" },
      { name: "behind its index, no answer", index: S, snapshotTerm: 5, becomes: "retried" },
      { name: "of a later term, answer stored", snapshotTerm: 6, stored: "its own", becomes: "put-key" },
      { name: "of a later term, no answer", snapshotTerm: 6, becomes: "retried" },
      { name: "of its term, answer stored", snapshotTerm: 5, stored: "its own", becomes: "put-key" },
      { name: "of its term, no answer", snapshotTerm: 5, becomes: "waits" },
      {
        name: "with the answer of another request of that id",
        snapshotTerm: 6,
        stored: "another payload",
        becomes: "REQUEST_ID_REUSED",
      },
      {
        name: "behind its index",
        index: S,
        snapshotTerm: 5,
        kind: "leaves no answer",
        becomes: "LEADER_CHANGED unknown",
      },
      { name: "of a later term", snapshotTerm: 6, kind: "leaves no answer", becomes: "LEADER_CHANGED unknown" },
      { name: "of its term", snapshotTerm: 5, kind: "leaves no answer", becomes: "LEADER_CHANGED unknown" },
      { name: "of an earlier term", snapshotTerm: 4, kind: "leaves no answer", becomes: "waits" },
      {
        name: "of a later term, attempt old",
        snapshotTerm: 6,
        ageMs: WINDOW_MS / 2 + 1,
        becomes: "LEADER_CHANGED unknown",
      },
      { name: "of a later term, attempt not so old", snapshotTerm: 6, ageMs: WINDOW_MS / 2, becomes: "retried" },
    ];
    for (const { name, index, snapshotTerm, stored = "none", kind, ageMs = 0, becomes } of table) {
      it(`P56: ${kind ?? "a command"}, snapshot ${name}: ${becomes}`, () => {
        const proposals = over(followingCore());
        const request = requestOf(7);
        if (stored !== "none") {
          applied.execute(putOf("k", "v"), { request: stored === "its own" ? request : requestOf(7, 8) });
        }
        const proposal = putting(request);
        add(proposals, "call", kind === undefined ? proposal : { ...proposal, stored: null }, 10 * WINDOW_MS);
        proposals.handOut();
        if (index !== undefined) {
          proposals.onForwarded({ term: 5, appended: [{ seq: 1, index }] });
        }
        forwarded();
        time.stall(ageMs);
        proposals.onSnapshotInstalled(S, snapshotTerm);
        proposals.handOut();
        const isAnew = forwarded().length > 0;
        expect(answers[0]?.replace("call: ", "") ?? (isAnew ? "retried" : "waits")).to.equal(becomes);
        expect(proposals.size + proposals.queueing).to.equal(answers.length === 0 ? 1 : 0);
      });
    }

    const locks: readonly {
      readonly name: string;
      /** What the state shows about the request: this attempt of it waits, or holds the lock, or nothing. */
      readonly shown: "queued" | "granted" | "none";
      readonly seq?: number;
      readonly ageMs?: number;
      /** This member has applied the entry by which it waits. */
      readonly isQueued?: boolean;
      readonly becomes: string;
    }[] = [
      { name: "that shows it in the queue", shown: "queued", becomes: "waits" },
      { name: "that shows it in the queue, for long", shown: "queued", ageMs: 3 * WINDOW_MS, becomes: "waits" },
      { name: "that shows another attempt", shown: "queued", seq: 9, becomes: "LEADER_CHANGED" },
      { name: "that shows its hold", shown: "granted", becomes: "acquire-lock" },
      { name: "that shows the hold that it waited for", shown: "granted", isQueued: true, becomes: "acquire-lock" },
      { name: "that shows it in the queue still", shown: "queued", isQueued: true, becomes: "waits" },
      { name: "that shows its hold, for long", shown: "granted", ageMs: 3 * WINDOW_MS, becomes: "acquire-lock" },
      { name: "that shows the hold of another attempt", shown: "granted", seq: 9, becomes: "LEADER_CHANGED" },
      { name: "that shows nothing", shown: "none", becomes: "retried" },
      { name: "that shows nothing, for long", shown: "none", ageMs: WINDOW_MS, becomes: "LEADER_CHANGED unknown" },
    ];
    for (const { name, shown, seq = 1, ageMs = 0, isQueued = false, becomes } of locks) {
      it(`S24, P56: a request for a lock, snapshot ${name}: ${becomes}`, () => {
        const core = followingCore();
        const proposals = over(core);
        const lock = { namespace: "default", name: "l" };
        const rest = { mode: "exclusive", ttlSeconds: 0, owner: "", fencingToken: 0 } as const;
        const operation = { kind: "acquire-lock", ...lock, ...rest, waitMs: 5_000 } as const;
        const proposal = proposalOf({ principal: OWNER, request: requestOf(7), operation }, applied.store);
        const request = identityOf(proposal);
        applied.execute({ kind: "create-lock", ...lock, rw: false, ttlSeconds: 30, lockDelaySeconds: 0 });
        if (shown === "queued") {
          applied.execute(operation);
        }
        applied.origin = { memberId: core.id, boot: 1, seq };
        if (shown !== "none") {
          applied.execute(operation, { request });
        }
        add(proposals, "call", proposal, 10 * WINDOW_MS);
        proposals.handOut();
        proposals.onForwarded({ term: 5, appended: [{ seq: 1, index: 3 }] });
        forwarded();
        if (isQueued) {
          proposals.answer(1, { answer: { kind: "queued-lock", revision: 1 }, replayed: "no" });
        }
        time.stall(ageMs);
        proposals.onSnapshotInstalled(S, 5);
        if (becomes === "waits") {
          // It waits as a row of the state, so what refutes attempts that are in no log does not concern it.
          proposals.applied(entry(S + 1, 6), 0);
        }
        proposals.handOut();
        const isAnew = forwarded().length > 0;
        expect(answers[0]?.replace("call: ", "") ?? (isAnew ? "retried" : "waits")).to.equal(becomes);
        expect(proposals.size + proposals.queueing).to.equal(answers.length === 0 ? 1 : 0);
      });
    }

    for (const { name, from, to, isOver = false, isDisabled = false, becomes } of [
      { name: "renewed", from: "write", to: "write", becomes: "acquire-lock" },
      { name: "downgraded", from: "write", to: "read", becomes: "acquire-lock" },
      { name: "upgraded", from: "read", to: "write", becomes: "acquire-lock" },
      { name: "renewed, and released since,", from: "read", to: "read", isOver: true, becomes: "LOCK_LOST" },
      { name: "upgraded, and released since,", from: "read", to: "write", isOver: true, becomes: "LOCK_LOST" },
      {
        name: "renewed for a user disabled since",
        from: "read",
        to: "read",
        isDisabled: true,
        becomes: "LEADER_CHANGED unknown",
      },
    ] as const) {
      it(`S24, P56: a change of a hold, snapshot shows it ${name}: ${becomes}`, () => {
        const proposals = over(followingCore());
        const lock = { namespace: "default", name: "l" };
        const rest = { ttlSeconds: 0, owner: "", waitMs: 0 } as const;
        applied.execute({ kind: "create-lock", ...lock, rw: true, ttlSeconds: 30, lockDelaySeconds: 0 });
        addUser(applied, ANNA, { role: "member", namespaces: ["default"] });
        const acquire = { kind: "acquire-lock", ...lock, ...rest, mode: from, fencingToken: 0 } as const;
        applied.execute(acquire, { principal: ANNA });
        const operation = { ...acquire, mode: to, fencingToken: applied.revision };
        const proposal = proposalOf({ principal: ANNA, request: requestOf(7), operation }, applied.store);
        // The executed attempt may be another one than the one that waits here: both made the same request.
        applied.execute(operation, { principal: ANNA, request: identityOf(proposal) });
        if (isOver) {
          applied.execute({ kind: "force-release-lock", ...lock, rw: true, fencingToken: 0, reason: "" });
        }
        addUser(applied, ANNA, { role: "member", namespaces: ["default"], status: isDisabled ? "disabled" : "active" });
        add(proposals, "call", proposal);
        proposals.handOut();
        proposals.onSnapshotInstalled(S, 6);
        expect(answers).to.deep.equal([`call: ${becomes}`]);
        expect(proposals.size + proposals.queueing).to.equal(0);
      });
    }

    for (const { name, changes, becomes } of [
      { name: "may still ask", changes: {}, becomes: "put-key" },
      { name: "was disabled since", changes: { status: "disabled" }, becomes: "LEADER_CHANGED unknown" },
      { name: "has lost the namespace since", changes: { namespaces: [] }, becomes: "LEADER_CHANGED unknown" },
      { name: "may only read since", changes: { role: "viewer" }, becomes: "LEADER_CHANGED unknown" },
    ] as const) {
      it(`S13: the stored answer for a user who ${name}: ${becomes}`, () => {
        const proposals = over(followingCore());
        const operation = putOf("k", "v");
        const proposal = proposalOf({ principal: ANNA, request: requestOf(7), operation }, applied.store);
        addUser(applied, ANNA, { role: "member", namespaces: ["default"] });
        applied.execute(operation, { principal: ANNA, request: identityOf(proposal) });
        addUser(applied, ANNA, { role: "member", namespaces: ["default"], ...changes });
        add(proposals, "call", proposal);
        proposals.handOut();
        proposals.onSnapshotInstalled(S, 6);
        expect(answers).to.deep.equal([`call: ${becomes}`]);
      });
    }

    it("S13: the stored refusal of a lock is nothing to a user who was disabled since", () => {
      const proposals = over(followingCore());
      const lock = { namespace: "default", name: "none", mode: "exclusive" } as const;
      const operation = {
        kind: "acquire-lock",
        ...lock,
        ttlSeconds: 0,
        owner: "",
        fencingToken: 0,
        waitMs: 0,
      } as const;
      const proposal = proposalOf({ principal: ANNA, request: requestOf(7), operation }, applied.store);
      addUser(applied, ANNA);
      applied.refusal(operation, { principal: ANNA, request: identityOf(proposal) });
      addUser(applied, ANNA, { status: "disabled" });
      add(proposals, "call", proposal);
      proposals.handOut();
      proposals.onSnapshotInstalled(S, 6);
      expect(answers).to.deep.equal(["call: LEADER_CHANGED unknown"]);
    });

    it("a call that was not handed out is not concerned", () => {
      const proposals = over(followingCore());
      add(proposals, "a", putting(requestOf(1)));
      proposals.onSnapshotInstalled(S, 9);
      proposals.handOut();
      expect(forwarded()).to.deep.equal([{ term: 5, seqs: [1] }]);
    });
  });

  describe("at the leader", () => {
    function refusals(): { reason: string; seqs: readonly number[]; leader: number; term: number }[] {
      return transport
        .take(FrameType.Refused)
        .map(decodeForwardRefused)
        .map((one) => ({ ...one }));
    }
    const attempt = (seq: number, proposal: Proposal) => ({ seq, kind: proposal.type, row: proposal.payload });

    it("S36: appends forwarded attempts under the origin of who forwards them, and says where they stand", () => {
      const core = leadingCore();
      const proposals = over(core);
      const last = core.lastIndex;
      proposals.onForward(2, 7, { term: 5, attempts: [8, 9].map((seq) => attempt(seq, putting(requestOf(seq)))) });
      expect(transport.take(FrameType.Forwarded).map(decodeForwarded)).to.deep.equal([
        {
          term: 5,
          appended: [
            { seq: 8, index: last + 1 },
            { seq: 9, index: last + 2 },
          ],
        },
      ]);
      drainCore(core);
      const origins = core.entries(last + 1, last + 2, 1e6).map((row) => entryEnvelope(row).origin);
      expect(origins).to.deep.equal([8, 9].map((seq) => ({ memberId: 2, boot: 7, seq })));
    });

    it("P56: refuses what was meant for the leader of another term, also if it leads now", () => {
      const core = leadingCore();
      const { lastIndex } = core;
      for (const term of [4, 6]) {
        over(core).onForward(2, 7, { term, attempts: [attempt(8, putting(requestOf(8)))] });
        expect(refusals()).to.deep.equal([{ seqs: [8], reason: "not-leader", leader: 1, term: 5 }]);
      }
      expect(core.lastIndex).to.equal(lastIndex);
    });

    it("S36: never passes on what was forwarded", () => {
      const core = followingCore();
      over(core).onForward(3, 7, { term: 5, attempts: [attempt(8, putting(requestOf(8)))] });
      expect(forwarded()).to.deep.equal([]);
      expect(refusals()).to.deep.equal([{ seqs: [8], reason: "not-leader", leader: 1, term: 5 }]);
    });

    it("P45: without room refuses of one frame what grows, and takes the rest", () => {
      hasRoom = false;
      const remove = encodeCommand({
        principal: OWNER,
        request: requestOf(9),
        operation: {
          kind: "delete-key",
          namespace: "default",
          key: Buffer.from("k"),
          expectedModRevision: undefined,
          returnPrevious: false,
        },
      });
      over(leadingCore()).onForward(2, 7, {
        term: 5,
        attempts: [attempt(8, putting(requestOf(8))), { seq: 9, kind: EntryType.Command, row: remove }],
      });
      expect(refusals().map(({ seqs, reason }) => ({ seqs, reason }))).to.deep.equal([
        { seqs: [8], reason: "storage-full" },
      ]);
      const [answer] = transport.take(FrameType.Forwarded).map(decodeForwarded);
      expect(answer?.appended.map(({ seq }) => seq)).to.deep.equal([9]);
    });

    it("answers each of several changes by itself", () => {
      const core = leadingCore();
      const add1 = changing({ kind: "add-slot", name: "x" });
      const proposals = over(core);
      proposals.onForward(2, 7, { term: 5, attempts: [attempt(1, add1), attempt(2, add1)] });
      expect(refusals().map(({ seqs, reason }) => ({ seqs, reason }))).to.deep.equal([
        { seqs: [1, 2], reason: "change-in-progress" },
      ]);
    });

    it("S36: its own calls are attempts like all others, answered by their origin alone", () => {
      const core = leadingCore();
      const proposals = over(core);
      add(proposals, "a", putting(requestOf(1)));
      add(proposals, "b", putting(requestOf(2)));
      const last = core.lastIndex;
      proposals.handOut();
      expect(core.lastIndex).to.equal(last + 2);
      expect(forwarded()).to.deep.equal([]);
      const outcome: Outcome = { answer: { kind: "delete-key", previous: null, revision: 7 }, replayed: "no" };
      proposals.answer(2, outcome);
      proposals.answer(2, outcome);
      expect(answers).to.deep.equal(["b: delete-key"]);
    });

    it("P45: without room refuses what grows of its own calls, and logs the rest", () => {
      hasRoom = false;
      const core = leadingCore();
      const proposals = over(core);
      add(proposals, "grows", putting(requestOf(1)));
      const tick = encodeCommand({ principal: null, request: null, operation: { kind: "tick" } });
      add(proposals, "tick", { type: EntryType.Command, payload: tick, work: tick.length, subject: "", stored: null });
      const last = core.lastIndex;
      proposals.handOut();
      expect(answers).to.deep.equal(["grows: STORAGE_FULL not-executed"]);
      expect(core.lastIndex).to.equal(last + 1);
    });

    it("S47: at the end says unknown of what was handed out and not-executed of the rest", () => {
      const proposals = over(leadingCore(), { perTurn: 1 });
      add(proposals, "out", putting(requestOf(1)));
      add(proposals, "held", putting(requestOf(2)));
      proposals.handOut();
      proposals.refuseAll();
      expect(answers).to.deep.equal(["out: SHUTTING_DOWN unknown", "held: SHUTTING_DOWN not-executed"]);
      expect(proposals.size).to.equal(0);
    });
  });
});
