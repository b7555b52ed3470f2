import { expect } from "chai";
import { FakeTime, follow, followingCore, leadingCore, ScriptedTransport } from "../../../test/harness/index.ts";
import { AppliedLog } from "../../../test/index.ts";
import {
  decodeLeaderReply,
  decodeLeaderRequest,
  encodeMemberQuestion,
  FrameType,
  type LeaderReply,
  type LeaderRequest,
  memberAnswerIn,
} from "../../peers/index.ts";
import type { RaftCore } from "../../raft/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { CommitTimes } from "../context/index.ts";
import type { ReadDone } from "../proposals/index.ts";
import { LeaderCalls } from "./leader-calls.ts";

const noLeader = (): CoordinationError => new CoordinationError("NO_LEADER", "no leader");
const TICK_MS = 50;
const TRANSFER_TICKS = 20;

describe("LeaderCalls", () => {
  let time: FakeTime;
  let transport: ScriptedTransport;
  let barriers: ReadDone[];
  let answers: string[];
  beforeEach(() => {
    time = new FakeTime();
    transport = new ScriptedTransport(time);
    barriers = [];
    answers = [];
  });

  function over(core: RaftCore): LeaderCalls {
    const context = {
      memberId: core.id,
      core,
      coreTickMs: TICK_MS,
      state: new AppliedLog().store,
      transport,
      clock: time,
      commitTimes: new CommitTimes(),
      limits: { core: { transferTicks: TRANSFER_TICKS } },
      arm: () => undefined,
    };
    return new LeaderCalls(context, (_deadlineMs, done) => barriers.push(done));
  }

  function askForMembers(calls: LeaderCalls, timeoutMs = 10_000): void {
    calls.add(
      {
        kind: "membership",
        done: (error, view) => answers.push(error === null ? `led by ${view?.leaderId}` : wordOf(error)),
      },
      time.monotonicMs() + timeoutMs,
    );
    calls.proceed();
  }

  function askForTransfer(calls: LeaderCalls, target: number, { ifTerm = 0, timeoutMs = 10_000 } = {}): void {
    calls.add(
      {
        kind: "transfer",
        target,
        ifTerm,
        done: (error, leader) => answers.push(error === null ? `${leader?.id} leads ${leader?.term}` : wordOf(error)),
      },
      time.monotonicMs() + timeoutMs,
    );
    calls.proceed();
  }

  const wordOf = ({ reason, outcome }: CoordinationError): string => `${reason} ${outcome}`;
  const questions = (): LeaderRequest[] => transport.take(FrameType.Question).map(decodeLeaderRequest);
  const replies = (): LeaderReply[] => transport.take(FrameType.Reply).map(decodeLeaderReply);

  function tick(calls: LeaderCalls, milliseconds: number): void {
    for (let passedMs = 0; passedMs < milliseconds; passedMs += TICK_MS) {
      time.stall(TICK_MS);
      calls.proceed();
      calls.onTick(time.monotonicMs(), noLeader);
    }
    calls.proceed();
  }

  describe("of a follower", () => {
    it("are asked of the leader of its term, and answered by the reply to that very question", () => {
      const calls = over(followingCore());
      askForMembers(calls);
      expect(questions()).to.deep.equal([{ seq: 1, term: 5, kind: "membership" }]);
      const reply = { kind: "membership", commitIndex: 9, changing: false, health: [] } as const;
      calls.onReply({ ...reply, seq: 1, term: 4 });
      calls.onReply({ ...reply, seq: 2, term: 5 });
      calls.onReply({ seq: 1, term: 5, kind: "transfer" });
      expect(answers).to.deep.equal([]);
      calls.onReply({ ...reply, seq: 1, term: 5 });
      calls.onReply({ ...reply, seq: 1, term: 5 });
      expect([answers, calls.size]).to.deep.equal([["led by 1"], 0]);
    });

    it("P9: are asked again, under a new number, when the leader changes, is lost, refuses for now, or is silent", () => {
      const again: readonly (readonly [string, (calls: LeaderCalls, core: RaftCore) => void])[] = [
        ["another leader", (_calls, core) => follow(core, 3, 6)],
        ["unreachable", (calls) => calls.onUnreachable(1)],
        ["not the leader", (calls) => calls.onReply({ seq: 1, term: 5, kind: "refused", reason: "not-leader" })],
        ["no quorum", (calls) => calls.onReply({ seq: 1, term: 5, kind: "refused", reason: "no-quorum" })],
        ["silence", (calls) => tick(calls, 1_000)],
      ];
      for (const [name, happens] of again) {
        const core = followingCore();
        const calls = over(core);
        askForMembers(calls);
        questions();
        happens(calls, core);
        tick(calls, TICK_MS);
        expect(questions(), name).to.deep.equal([{ seq: 2, term: core.term, kind: "membership" }]);
        tick(calls, 500);
        expect(questions(), `${name}, and not again at once`).to.deep.equal([]);
      }
    });

    it("P10: an answer to the former question counts for nothing", () => {
      const calls = over(followingCore());
      askForMembers(calls);
      calls.onUnreachable(1);
      tick(calls, TICK_MS);
      calls.onReply({ seq: 1, term: 5, kind: "membership", commitIndex: 9, changing: false, health: [] });
      expect(answers).to.deep.equal([]);
    });

    it("S36: are held without a leader, or a connection to it, for 3 s or to the last tenth of their time", () => {
      for (const [timeoutMs, heldMs] of [
        [10_000, 3_000],
        [1_000, 900],
      ] as const) {
        for (const isLed of [true, false]) {
          answers = [];
          const calls = over(followingCore(isLed ? 1 : 0));
          transport.away.add(1);
          askForMembers(calls, timeoutMs);
          tick(calls, heldMs - TICK_MS);
          expect(answers).to.deep.equal([]);
          tick(calls, TICK_MS);
          expect(answers).to.deep.equal(["NO_LEADER not-executed"]);
          expect(questions()).to.deep.equal([]);
        }
      }
    });

    it("S12: end at their deadline when the leader goes on not answering", () => {
      const calls = over(followingCore());
      askForTransfer(calls, 3, { timeoutMs: 2_000 });
      tick(calls, 1_950);
      expect(answers).to.deep.equal([]);
      tick(calls, TICK_MS);
      expect(answers).to.deep.equal(["DEADLINE unknown"]);
    });

    it("end when this member stops", () => {
      const calls = over(followingCore());
      askForMembers(calls);
      askForTransfer(calls, 3);
      calls.refuseAll(noLeader());
      expect([answers, calls.size]).to.deep.equal([["NO_LEADER not-executed", "NO_LEADER not-executed"], 0]);
    });
  });

  describe("for a transfer", () => {
    it("is done when another leader is heard, after the leader has begun it or before that is known", () => {
      for (const isBegun of [true, false]) {
        answers = [];
        const core = followingCore();
        const calls = over(core);
        askForTransfer(calls, 3, { ifTerm: 5 });
        expect(questions()).to.deep.equal([{ seq: 1, term: 5, kind: "transfer", target: 3, ifTerm: 5 }]);
        if (isBegun) {
          calls.onReply({ seq: 1, term: 5, kind: "transfer" });
        }
        tick(calls, 200);
        expect(answers).to.deep.equal([]);
        follow(core, 3, 6);
        tick(calls, TICK_MS);
        expect([answers, questions()]).to.deep.equal([["3 leads 6"], []]);
      }
    });

    it("is given up some time after the leader has given it up", () => {
      const calls = over(followingCore());
      askForTransfer(calls, 3);
      calls.onReply({ seq: 1, term: 5, kind: "transfer" });
      tick(calls, TRANSFER_TICKS * TICK_MS + 450);
      expect(answers).to.deep.equal([]);
      tick(calls, TICK_MS);
      expect(answers).to.deep.equal(["NO_LEADER unknown"]);
    });

    it("says so when somebody else was elected", () => {
      const core = followingCore();
      const calls = over(core);
      askForTransfer(calls, 2);
      calls.onReply({ seq: 1, term: 5, kind: "transfer" });
      follow(core, 3, 6);
      tick(calls, TICK_MS);
      expect(answers).to.deep.equal(["LEADER_CHANGED unknown"]);
    });

    it("P52: is unknown if the leader that was asked does not answer, and not executed if no leader was asked", () => {
      const core = followingCore();
      const calls = over(core);
      askForTransfer(calls, 3);
      calls.onUnreachable(1);
      transport.away.add(1);
      tick(calls, 3_000);
      expect(answers).to.deep.equal(["NO_LEADER unknown"]);
      askForTransfer(calls, 3);
      tick(calls, 3_000);
      expect(answers.at(-1)).to.equal("NO_LEADER not-executed");
    });

    it("is refused with the leader's reason, and never asked again", () => {
      const reasons = {
        "unknown-member": "MEMBER_NOT_FOUND not-executed",
        "not-voter": "LEARNER_NOT_READY not-executed",
        "term-changed": "CONFIG_CHANGED not-executed",
        damaged: "QUORUM_UNSAFE not-executed",
        "disk-full": "QUORUM_UNSAFE not-executed",
        behind: "NO_LEADER not-executed",
        "not-in-contact": "NO_LEADER not-executed",
      };
      for (const [reason, answer] of Object.entries(reasons)) {
        const calls = over(followingCore());
        askForTransfer(calls, 3);
        questions();
        calls.onReply({ seq: 1, term: 5, kind: "refused", reason });
        tick(calls, 200);
        expect([answers.at(-1), questions().length, calls.size], reason).to.deep.equal([answer, 0, 0]);
      }
    });

    it("is done at once when the target leads already", () => {
      const calls = over(followingCore());
      askForTransfer(calls, 1);
      calls.onReply({ seq: 1, term: 5, kind: "refused", reason: "self" });
      expect(answers).to.deep.equal(["1 leads 5"]);
    });
  });

  describe("at the leader", () => {
    it("P8: returns the members after a round to a majority, and only while it leads that term", () => {
      const calls = over(leadingCore());
      calls.onRequest(2, { seq: 7, term: 5, kind: "membership" });
      expect(replies()).to.deep.equal([]);
      barriers.shift()?.(null);
      const [reply] = replies();
      expect(reply).to.include({ seq: 7, term: 5, kind: "membership", commitIndex: 1, changing: false });
      calls.onRequest(2, { seq: 8, term: 5, kind: "membership" });
      barriers.shift()?.(noLeader());
      expect(replies()).to.deep.equal([{ seq: 8, term: 5, kind: "refused", reason: "no-quorum" }]);
    });

    it("P8: one that was deposed during the round returns nothing", () => {
      const core = leadingCore();
      const calls = over(core);
      calls.onRequest(2, { seq: 7, term: 5, kind: "membership" });
      follow(core, 2, 6);
      barriers.shift()?.(null);
      expect(replies()).to.deep.equal([{ seq: 7, term: 5, kind: "refused", reason: "not-leader" }]);
    });

    it("S36: refuses requests for the leader of another term, and never forwards them", () => {
      const calls = over(leadingCore());
      for (const term of [4, 6]) {
        calls.onRequest(2, { seq: 7, term, kind: "transfer", target: 3, ifTerm: 0 });
        expect(replies()).to.deep.equal([{ seq: 7, term, kind: "refused", reason: "not-leader" }]);
      }
      over(followingCore()).onRequest(3, { seq: 7, term: 5, kind: "membership" });
      expect(replies()).to.deep.equal([{ seq: 7, term: 5, kind: "refused", reason: "not-leader" }]);
      expect(questions()).to.deep.equal([]);
    });

    it("a transfer under the condition of another term is refused, as is one that the core refuses", () => {
      const calls = over(leadingCore());
      calls.onRequest(2, { seq: 7, term: 5, kind: "transfer", target: 3, ifTerm: 4 });
      calls.onRequest(2, { seq: 8, term: 5, kind: "transfer", target: 9, ifTerm: 5 });
      expect(replies().map((reply) => (reply.kind === "refused" ? reply.reason : reply.kind))).to.deep.equal([
        "term-changed",
        "unknown-member",
      ]);
    });

    it("its own calls are answered without a frame", () => {
      const calls = over(leadingCore());
      askForMembers(calls);
      askForTransfer(calls, 1);
      barriers.shift()?.(null);
      expect(answers).to.deep.equal(["1 leads 5", "led by 1"]);
      expect(transport.sent).to.deep.equal([]);
    });
  });

  it("refuses a question about a member, as earlier releases do, which do not know such questions", () => {
    for (const core of [leadingCore(), followingCore()]) {
      over(core).onRequest(2, decodeLeaderRequest(encodeMemberQuestion({ seq: 4, body: Uint8Array.of(1) })));
    }
    expect(replies().map(memberAnswerIn)).to.deep.equal([
      { seq: 4, body: null },
      { seq: 4, body: null },
    ]);
  });
});
