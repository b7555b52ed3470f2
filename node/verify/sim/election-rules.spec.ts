import { expect } from "chai";
import { type Configuration, DEFAULT_CORE_LIMITS, type Message, NO_CONFIGURATION } from "../../src/raft/index.ts";
import type { LogMeta } from "./disk.ts";
import { ElectionRules } from "./election-rules.ts";
import { TICK_MS, TickCount } from "./tick-count.ts";
import { TimeoutRules } from "./timeout-rules.ts";

const META: LogMeta = {
  boot: 1,
  writeSeq: 1,
  term: 5,
  vote: 0,
  commit: 9,
  first: 1,
  prevTerm: 0,
  last: 9,
  lastTerm: 4,
};
const STEADY_MS = 1_000_000;

describe("the rules of elections", () => {
  let rules: ElectionRules;
  let ticks: TickCount;
  let meta: LogMeta;
  let isDamaged: boolean;
  let configuration: Configuration;
  let nowMs: number;

  const read = (message: Partial<Message> & Pick<Message, "type" | "from" | "term">): void => {
    rules.onRead({ to: 1, ...message } as Message);
  };
  const send = (message: Partial<Message> & Pick<Message, "type" | "to" | "term">): void => {
    rules.onSent({ from: 1, ...message } as Message);
  };
  const heartbeat = (from: number, term: number): void => read({ type: "heartbeat", from, term });
  const vote = (from: number, term: number, lastIndex = 9, transfer = false): void => {
    read({ type: "vote", from, term, lastIndex, lastTerm: 4, transfer });
  };
  const preVote = (from: number, term: number): void =>
    read({ type: "pre-vote", from, term, lastIndex: 9, lastTerm: 4 });
  const answer = (from: number, term: number, granted: boolean): void =>
    read({ type: "vote-reply", from, term, granted });
  const preAnswer = (from: number, term: number, granted: boolean): void => {
    read({ type: "pre-vote-reply", from, term, granted });
  };
  const turn = (term = 5, role: "follower" | "candidate" | "leader" = "follower"): void => {
    rules.onTurn(role, term);
    ticks.onTurn();
  };
  const pass = (count: number): void => {
    for (let tick = 0; tick < count; tick++) {
      nowMs += TICK_MS;
      turn();
    }
  };

  beforeEach(() => {
    nowMs = 0;
    meta = META;
    isDamaged = false;
    configuration = { ...NO_CONFIGURATION, index: 1, voters: [1, 2, 3, 4, 5] };
    const clock = {
      monotonicMs: () => nowMs,
      get roundMs() {
        return nowMs;
      },
      unhinderedMs: STEADY_MS,
    };
    ticks = new TickCount(clock);
    const elector = { id: 1, meta: () => meta, configuration: () => configuration, isDamaged: () => isDamaged };
    rules = new ElectionRules(elector, ticks, DEFAULT_CORE_LIMITS, new TimeoutRules(DEFAULT_CORE_LIMITS));
  });

  describe("P19: of members that hear a leader", () => {
    const rule = "P19 a member that hears a leader votes for no other";

    it("forbid to vote for another one, and to encourage it", () => {
      heartbeat(2, 5);
      turn();
      pass(5);
      preVote(3, 6);
      vote(4, 6);
      expect(() => send({ type: "pre-vote-reply", to: 3, term: 6, granted: true })).to.throw(rule);
      expect(() => send({ type: "vote-reply", to: 4, term: 6, granted: true })).to.throw(rule);
    });

    it("allow it when the leader is silent, requests it, has no process, or has an old term", () => {
      heartbeat(2, 5);
      turn();
      vote(3, 6, 9, true);
      send({ type: "vote-reply", to: 3, term: 6, granted: true });
      turn(6);
      heartbeat(2, 6);
      turn(6);
      rules.onGone(2);
      preVote(3, 7);
      send({ type: "pre-vote-reply", to: 3, term: 7, granted: true });
      heartbeat(2, 6);
      turn(6);
      answer(4, 8, false);
      preVote(3, 9);
      send({ type: "pre-vote-reply", to: 3, term: 9, granted: true });
      turn(8);
      heartbeat(2, 8);
      turn(8);
      for (let tick = 0; tick < 20; tick++) {
        nowMs += TICK_MS;
        turn(8);
      }
      preVote(3, 10);
      send({ type: "pre-vote-reply", to: 3, term: 10, granted: true });
    });

    it("allow it if the leader is reported gone before the request is read, and not after that", () => {
      heartbeat(2, 5);
      turn();
      preVote(3, 6);
      turn();
      preVote(4, 6);
      rules.onGone(2);
      send({ type: "pre-vote-reply", to: 4, term: 6, granted: true });
      expect(() => send({ type: "pre-vote-reply", to: 3, term: 6, granted: true })).to.throw(rule);
    });

    it("allow it if that report comes after the next leader was heard, in the same turn", () => {
      heartbeat(2, 5);
      turn();
      vote(4, 6);
      heartbeat(4, 6);
      rules.onGone(2);
      send({ type: "vote-reply", to: 4, term: 6, granted: true });
    });

    it("allow an answer that waits for the disk while a leader comes up", () => {
      vote(3, 6);
      turn(6);
      heartbeat(3, 6);
      turn(6);
      send({ type: "vote-reply", to: 3, term: 6, granted: true });
    });

    it("ignore messages of a former start of the peer", () => {
      heartbeat(2, 5);
      rules.onRestarted(2);
      turn();
      preVote(3, 6);
      send({ type: "pre-vote-reply", to: 3, term: 6, granted: true });
    });

    it("forbid to become a candidate", () => {
      heartbeat(2, 5);
      turn();
      pass(5);
      expect(() => rules.onPreCandidacy()).to.throw("P19 a member that hears a leader does not become a candidate");
      pass(20);
      rules.onPreCandidacy();
    });

    it("count no more ticks than a stall lets a process make up for", () => {
      heartbeat(2, 5);
      turn();
      nowMs += 5_000;
      preVote(3, 6);
      expect(() => send({ type: "pre-vote-reply", to: 3, term: 6, granted: true })).to.throw(rule);
    });

    it("let a sole voter become a candidate", () => {
      heartbeat(2, 5);
      turn();
      configuration = { ...configuration, voters: [1] };
      rules.onPreCandidacy();
    });
  });

  describe("P20: of refusals", () => {
    const refuse = (to: number, term: number): void => send({ type: "vote-reply", to, term, granted: false });

    it("forbid one without a reason", () => {
      vote(2, 6);
      meta = { ...META, term: 6 };
      expect(() => refuse(2, 6)).to.throw("P20 a vote is refused for a reason");
    });

    it("know the reasons: the vote is given, the own log is newer, data was lost, the term has passed", () => {
      vote(2, 6);
      meta = { ...META, term: 6, vote: 3 };
      refuse(2, 6);
      meta = { ...META, term: 7 };
      vote(2, 7, 8);
      refuse(2, 7);
      isDamaged = true;
      vote(2, 8);
      refuse(2, 8);
      isDamaged = false;
      vote(2, 4);
      refuse(2, 8);
    });

    it("say nothing when the log has changed since, or it is not clear what is answered", () => {
      vote(2, 6);
      read({ type: "append", from: 3, term: 6, prevIndex: 9, prevTerm: 4, commit: 9, rows: [] });
      turn(6);
      refuse(2, 6);
      vote(4, 6);
      vote(4, 7);
      refuse(4, 7);
    });
  });

  describe("P35: of candidates", () => {
    it("want the word of a quorum for a candidacy, each voter's first, for this very election", () => {
      const rule = "P35 a candidacy follows the word of a quorum";
      preAnswer(2, 6, true);
      rules.onPreCandidacy();
      preAnswer(3, 6, true);
      preAnswer(3, 6, true);
      expect(() => rules.onCandidacy(5)).to.throw(rule);
      preAnswer(4, 5, false);
      preAnswer(4, 6, true);
      answer(5, 6, true);
      preAnswer(5, 7, true);
      expect(() => rules.onCandidacy(5)).to.throw(rule);
      preAnswer(2, 6, true);
      rules.onCandidacy(5);
    });

    it("want none if the leader has requested it", () => {
      read({ type: "timeout-now", from: 2, term: 5 });
      rules.onCandidacy(5);
      turn(6, "candidate");
      expect(() => rules.onCandidacy(6)).to.throw("P35");
    });

    it("want a quorum of votes in the term for a leader, the own one durable (P4)", () => {
      const rule = "P35, P4 a leader has the votes of a quorum";
      rules.onPreCandidacy();
      preAnswer(2, 6, true);
      preAnswer(3, 6, true);
      rules.onCandidacy(5);
      answer(2, 6, true);
      preAnswer(4, 6, true);
      answer(3, 5, true);
      meta = { ...META, term: 6, vote: 1 };
      expect(() => rules.onElected(6)).to.throw(rule);
      answer(5, 6, true);
      rules.onElected(6);
      meta = META;
      expect(() => rules.onElected(6)).to.throw(rule);
    });
  });

  describe("P37, P38: of members in an old term", () => {
    const rule = "P37, P38 a member in an old term learns of the newer one";

    it("want an answer to heartbeats and pre-votes in the same turn", () => {
      heartbeat(2, 4);
      preVote(3, 5);
      send({ type: "heartbeat-reply", to: 2, term: 5 });
      send({ type: "pre-vote-reply", to: 3, term: 5, granted: false });
      turn();
      heartbeat(2, 4);
      send({ type: "pre-vote-reply", to: 2, term: 5, granted: false });
      expect(() => turn()).to.throw(rule);
    });

    it("want none from a member that cannot send, or where the message is void", () => {
      heartbeat(2, 4);
      rules.onUnsent(2);
      turn();
      preVote(3, 4);
      rules.onRestarted(3);
      turn();
    });
  });
});
