import { expect } from "chai";
import { FakeTime, ScriptedTransport } from "../../../test/harness/index.ts";
import { decodeLeaderReply, decodeLeaderRequest, encodeMemberQuestion, FrameType } from "../../peers/index.ts";
import { MemberCalls } from "./member-calls.ts";

const LEADERS_REPLY = { seq: 1, term: 1, kind: "refused", reason: "behind" } as const;

describe("MemberCalls", () => {
  let time: FakeTime;
  let transport: ScriptedTransport;
  let calls: MemberCalls;
  let results: string[];

  beforeEach(() => {
    time = new FakeTime();
    transport = new ScriptedTransport(time);
    results = [];
    // This member answers a question with its bytes in the other order, and does not know empty ones.
    calls = over(transport, (question) => (question.length === 0 ? null : question.toReversed()));
  });

  function over(by: ScriptedTransport, answer: (question: Uint8Array) => Uint8Array | null): MemberCalls {
    return new MemberCalls({ transport: by, scheduler: time, arm: () => undefined }, answer);
  }

  function ask(peer: number, question: readonly number[], timeoutMs = 1_000): void {
    calls.ask(peer, Uint8Array.from(question), time.monotonicMs() + timeoutMs, (error, answer) =>
      results.push(error === null ? String(answer) : `${error.reason}: ${error.message}`),
    );
  }

  /** Lets the peer answer everything that it was asked. */
  function answerAs(peer: number, member: MemberCalls): void {
    for (const body of transport.take(FrameType.Question)) {
      expect(member.takeQuestion(1, decodeLeaderRequest(body))).to.equal(true);
    }
    for (const body of transport.take(FrameType.Reply)) {
      expect(calls.takeAnswer(peer, decodeLeaderReply(body))).to.equal(true);
    }
  }

  it("ask a member about itself and pass on its answer, each its own", () => {
    ask(2, [1, 2, 3]);
    ask(2, [4, 5]);
    expect(calls.takeAnswer(2, LEADERS_REPLY), "a reply of the leader").to.equal(false);
    expect(results, "never before the call returns").to.deep.equal([]);
    answerAs(2, calls);
    expect(results).to.deep.equal(["3,2,1", "5,4"]);
    answerAs(2, calls);
    time.turn();
    expect(results).to.have.length(2);
  });

  it("pass on that a member does not know the question", () => {
    ask(2, []);
    answerAs(2, calls);
    expect(results).to.deep.equal(["MEMBER_UNREACHABLE: member 2 has a release that does not know this call"]);
  });

  it("fail without a connection, when it is lost, and when the answer is late", () => {
    transport.away.add(3);
    ask(3, [1]);
    expect(results).to.deep.equal([]);
    time.turn();
    ask(2, [1]);
    ask(4, [1], 500);
    calls.onUnreachable(2);
    time.stall(499);
    calls.onTick(time.monotonicMs());
    expect(results).to.have.length(2);
    time.stall(1);
    calls.onTick(time.monotonicMs());
    expect(results).to.deep.equal([
      "MEMBER_UNREACHABLE: member 3 is not connected to this one",
      "MEMBER_UNREACHABLE: member 2 has lost its connection to this one",
      "MEMBER_UNREACHABLE: member 4 did not answer in time",
    ]);
    answerAs(2, calls);
    expect(results, "a late answer").to.have.length(3);
  });

  it("take no answer of another member than the one that was asked", () => {
    ask(2, [1, 2]);
    answerAs(3, calls);
    expect(results).to.deep.equal([]);
  });

  it("end when the member stops, and are limited in number", () => {
    for (let count = 0; count <= 32; count++) {
      ask(2, [1]);
    }
    ask(3, [1]);
    time.turn();
    expect(results, "each peer has its own limit").to.deep.equal([
      "OVERLOADED: 32 calls wait for an answer of member 2 already",
    ]);
    calls.stop();
    ask(2, [1]);
    time.turn();
    expect(new Set(results.slice(1).map((result) => result.split(":")[0]))).to.deep.equal(new Set(["SHUTTING_DOWN"]));
    expect(results).to.have.length(35);
  });

  it("leave questions to the leader to others", () => {
    expect(calls.takeQuestion(2, { seq: 1, term: 0, kind: "membership" })).to.equal(false);
    expect(calls.takeQuestion(2, { seq: 1, term: 3, kind: "membership" })).to.equal(false);
    const question = decodeLeaderRequest(encodeMemberQuestion({ seq: 1, body: Uint8Array.of(1) }));
    expect(calls.takeQuestion(2, question)).to.equal(true);
  });
});
