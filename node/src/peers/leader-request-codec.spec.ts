import { expect } from "chai";
import { FrameError } from "./frame.ts";
import {
  decodeLeaderReply,
  decodeLeaderRequest,
  decodeLeaderTick,
  encodeLeaderReply,
  encodeLeaderRequest,
  encodeLeaderTick,
  encodeMemberAnswer,
  encodeMemberQuestion,
  type LeaderReply,
  type LeaderRequest,
  memberAnswerIn,
  memberQuestionIn,
} from "./leader-request-codec.ts";

const QUESTIONS: readonly LeaderRequest[] = [
  { seq: 1, term: 2, kind: "membership" },
  { seq: 3, term: 4, kind: "transfer", target: 5, ifTerm: 6 },
];
const REPLIES: readonly LeaderReply[] = [
  {
    seq: 1,
    term: 2,
    kind: "membership",
    commitIndex: 3,
    changing: true,
    health: [{ id: 4, lagMs: 5, contactAgeMs: 6, promotable: false }],
  },
  { seq: 7, term: 8, kind: "transfer" },
  { seq: 9, term: 10, kind: "refused", reason: "behind" },
];

describe("question codec", () => {
  it("returns questions, replies and ticks as they were", () => {
    for (const question of QUESTIONS) {
      expect(decodeLeaderRequest(encodeLeaderRequest(question))).to.deep.equal(question);
    }
    for (const reply of REPLIES) {
      expect(decodeLeaderReply(encodeLeaderReply(reply))).to.deep.equal(reply);
    }
    const tick = { term: 3, tickMs: Number.MAX_SAFE_INTEGER, commitIndex: 7, quorumKnownConfigIndex: 5 };
    expect(decodeLeaderTick(encodeLeaderTick(tick))).to.deep.equal(tick);
  });

  it("returns questions about a member, and their answers, as they were, and keeps them apart from the leader's", () => {
    const question = { seq: 5, body: Uint8Array.of(1, 255, 0) };
    expect(memberQuestionIn(decodeLeaderRequest(encodeMemberQuestion(question)))).to.deep.equal(question);
    for (const body of [Uint8Array.of(2, 254), new Uint8Array(0), null]) {
      const answer = { seq: 6, body };
      expect(memberAnswerIn(decodeLeaderReply(encodeMemberAnswer(answer)))).to.deep.equal(answer);
    }
    expect(QUESTIONS.map(memberQuestionIn)).to.deep.equal([null, null]);
    expect(REPLIES.map(memberAnswerIn)).to.deep.equal([null, null, null]);
  });

  it("refuses missing fields and wrong types", () => {
    const bodies = [
      '{"seq":1,"term":2,"kind":"other"}',
      '{"seq":-1,"term":2,"kind":"membership"}',
      '{"term":2,"kind":"membership"}',
      '{"seq":1,"term":2,"kind":"transfer","target":"3","ifTerm":0}',
      '{"seq":1,"term":0,"kind":"membership","about":"%"}',
      "[]",
    ];
    for (const body of bodies) {
      expect(() => decodeLeaderRequest(Buffer.from(body)), body).to.throw(FrameError);
    }
    expect(() => decodeLeaderReply(Buffer.from('{"seq":1,"term":2,"kind":"membership","health":[]}'))).to.throw(
      FrameError,
    );
    const tick = encodeLeaderTick({ term: 1, tickMs: 2, commitIndex: 3, quorumKnownConfigIndex: 3 });
    expect(() => decodeLeaderTick(tick.subarray(1))).to.throw(FrameError);
  });
});
