import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  type AppendEffect,
  type Configuration,
  DEFAULT_CORE_LIMITS,
  EntryType,
  encodeEntry,
  type Message,
  NO_CONFIGURATION,
  NO_ENVELOPE,
  sealEntry,
} from "../../src/raft/index.ts";
import { DEFAULT_REPLICA_LIMITS, type ReplicaStatus } from "../../src/replica/index.ts";
import { encodeMembershipEntry } from "../../src/state/index.ts";
import { LeadershipRules } from "./leadership-rules.ts";

const TERM = 5;
/** The first entry of the term. */
const FIRST = 10;
const LIMITS = {
  ...DEFAULT_REPLICA_LIMITS,
  proposalsPerTurn: 1,
  proposalWorkMax: 100,
  core: { ...DEFAULT_CORE_LIMITS, uncommittedBytesMax: 1_000, unappliedEntriesMax: 3 },
};

function rowOf(
  index: number,
  type: EntryType = EntryType.Command,
  payload: Uint8Array = new Uint8Array(100),
): Uint8Array {
  const row = encodeEntry(type, NO_ENVELOPE, payload);
  sealEntry(row, TERM, index, crc32);
  return row;
}

function changeOf(index: number, change: { promote?: number[]; demote?: number[]; remove?: number[] }): Uint8Array {
  const operation = { kind: "reconfigure", promote: [], demote: [], remove: [], ...change } as const;
  const entry = { subject: "administrator", request: null, expectIndex: 0, operation };
  return rowOf(index, EntryType.Reconfigure, encodeMembershipEntry(entry));
}

describe("the rules of leaders", () => {
  let rules: LeadershipRules;
  let nowMs: number;
  let unhinderedMs: number;
  let applied: number;
  let configuration: Configuration;
  let last: number;

  const read = (message: Partial<Message> & Pick<Message, "type" | "from">): void => {
    rules.onRead({ to: 1, term: TERM, commit: 0, ...message } as Message);
  };
  const acknowledge = (from: number, index: number): void => {
    read({ type: "append-reply", from, index, refused: false, busy: "no" });
  };
  const answer = (from: number, commit: number): void => read({ type: "heartbeat-reply", from, commit });
  const write = (commit: number, ...rows: readonly Uint8Array[]): void => {
    const from = last + 1;
    last += rows.length;
    rules.onWrite({ writeSeq: last, term: TERM, vote: 1, commit, from, rows, resetTo: null } as AppendEffect);
  };
  const turn = (status: Partial<ReplicaStatus> = {}): void => {
    const known = { role: "leader", term: TERM, firstIndex: 1, lastIndex: last, commitIndex: applied } as const;
    rules.onTurn({ ...known, appliedIndex: applied, alarms: [], ...status } as ReplicaStatus);
  };
  const pass = (ms: number): void => {
    nowMs += ms;
  };

  beforeEach(() => {
    nowMs = 0;
    unhinderedMs = 1_000_000;
    applied = FIRST;
    last = FIRST - 1;
    configuration = { ...NO_CONFIGURATION, index: 4, voters: [1, 2, 3], learners: [4] };
    const leading = {
      id: 1,
      clock: {
        monotonicMs: () => nowMs,
        roundMs: 0,
        get unhinderedMs() {
          return unhinderedMs;
        },
      },
      configuration: () => configuration,
      applied: () => applied,
      row: () => undefined,
    };
    rules = new LeadershipRules(leading, LIMITS);
    rules.onElected(TERM);
    write(FIRST - 1, rowOf(FIRST, EntryType.Empty));
    turn();
  });

  describe("P38: of contact", () => {
    it("are broken by a leader that goes on without contact to a quorum", () => {
      answer(2, FIRST);
      pass(1_200);
      turn();
      pass(200);
      expect(() => turn()).to.throw("P38 a leader that hears no quorum steps down");
    });

    it("hold for a leader that hears one, steps down, was hindered, or has another configuration", () => {
      pass(1_400);
      answer(3, FIRST);
      turn();
      pass(1_400);
      configuration = { ...configuration, index: 11 };
      turn();
      pass(1_400);
      unhinderedMs = 300;
      turn();
      unhinderedMs = 1_000_000;
      turn({ role: "follower" });
    });
  });

  describe("P45, P59: of disks", () => {
    it("are broken by a leader that goes on although its disk is full", () => {
      const full = { alarms: ["the disk is full"] };
      const stay = (): void => {
        for (let step = 0; step < 5; step++) {
          answer(2, FIRST);
          turn(full);
          pass(900);
        }
      };
      expect(stay).to.throw("P45, P59 whose disk takes nothing leads no more");
    });

    it("hold for a sole voter, and for a disk that answers now and then", () => {
      configuration = { ...configuration, voters: [1] };
      for (let step = 0; step < 5; step++) {
        turn({ alarms: ["the disk does not answer"] });
        pass(900);
      }
      configuration = { ...configuration, index: 12, voters: [1, 2, 3] };
      for (let step = 0; step < 10; step++) {
        answer(2, FIRST);
        turn(step % 2 === 0 ? { alarms: ["the disk does not answer"] } : {});
        pass(900);
      }
    });
  });

  describe("P16: of changes", () => {
    it("want the beginning of the term to be applied", () => {
      applied = FIRST - 1;
      expect(() => write(FIRST, rowOf(FIRST + 1, EntryType.AddSlot))).to.throw("P16 no change comes before");
    });

    it("want the last one to be applied", () => {
      write(FIRST, rowOf(FIRST + 1, EntryType.AddSlot));
      applied = FIRST + 1;
      write(FIRST, rowOf(FIRST + 2, EntryType.AddSlot));
      const both = [rowOf(FIRST + 3, EntryType.AddSlot), rowOf(FIRST + 4, EntryType.AddSlot)];
      expect(() => write(FIRST, ...both)).to.throw("P16 one change at a time is pending");
    });

    it("want a joint configuration to be left before anything else", () => {
      configuration = { ...configuration, outgoing: [1, 2] };
      write(FIRST, rowOf(FIRST + 1, EntryType.Leave));
      applied = FIRST + 1;
      expect(() => write(FIRST, rowOf(FIRST + 2, EntryType.AddSlot))).to.throw("P16 a joint configuration");
    });
  });

  describe("P21: of promotions", () => {
    const promotion = (): void => write(FIRST, changeOf(last + 1, { promote: [4] }));

    beforeEach(() => {
      answer(2, FIRST);
      answer(4, FIRST);
    });

    it("want the learner to hold what the leader held for long", () => {
      acknowledge(4, FIRST);
      promotion();
    });

    it("are broken by one that has acknowledged nothing in the term, and by one that lags", () => {
      expect(promotion).to.throw("P21 a promoted learner has caught up");
      acknowledge(4, FIRST);
      write(FIRST, rowOf(FIRST + 1));
      for (let step = 0; step < 8; step++) {
        pass(900);
        answer(2, FIRST);
        answer(4, FIRST);
        turn();
      }
      expect(promotion).to.throw("P21 a promoted learner has caught up");
    });

    it("are broken by one that is silent, and by one whose disk is full", () => {
      answer(3, FIRST);
      acknowledge(4, FIRST);
      read({ type: "append-reply", from: 4, index: FIRST, refused: true, busy: "full" });
      expect(promotion).to.throw("P21 a promoted learner has caught up");
      acknowledge(4, FIRST);
      pass(900);
      answer(2, FIRST);
      answer(3, FIRST);
      expect(promotion).to.throw("P21 a promoted learner has caught up");
    });

    it("want a majority of the new voters to be within reach", () => {
      write(FIRST, changeOf(last + 1, { remove: [3] }));
      applied = last;
      pass(900);
      answer(3, FIRST);
      turn();
      expect(() => write(last, changeOf(last + 1, { remove: [3] }))).to.throw("P21 no change leaves a majority");
    });

    it("do not judge a hindered leader", () => {
      acknowledge(4, FIRST);
      pass(900);
      unhinderedMs = 100;
      promotion();
    });
  });

  describe("P41: of taken entries", () => {
    it("bound what is not committed, but for what the leader adds by itself", () => {
      write(FIRST, rowOf(FIRST + 1), rowOf(FIRST + 2), rowOf(FIRST + 3), rowOf(FIRST + 4), rowOf(FIRST + 5));
      write(FIRST, rowOf(FIRST + 6, EntryType.Empty), rowOf(FIRST + 7, EntryType.Empty));
      write(FIRST + 1, rowOf(FIRST + 8), rowOf(FIRST + 9));
      expect(() => write(FIRST + 1, rowOf(FIRST + 10))).to.throw("P41 uncommitted entries are bounded");
    });

    it("let one large entry pass", () => {
      write(FIRST, rowOf(FIRST + 1, EntryType.Command, new Uint8Array(5_000)));
      expect(() => write(FIRST, rowOf(FIRST + 2))).to.throw("P41 uncommitted entries are bounded");
    });

    it("bound what is not applied, in the turn in which it is taken", () => {
      turn({ commitIndex: FIRST + 3 });
      write(FIRST, rowOf(FIRST + 1));
      turn({ commitIndex: FIRST + 4 });
      write(FIRST, rowOf(FIRST + 2));
      expect(() => turn({ commitIndex: FIRST + 4 })).to.throw("P41 unapplied entries are bounded");
    });

    it("bound what is not applied, also when it is written later", () => {
      turn({ commitIndex: FIRST + 4 });
      turn({ commitIndex: FIRST + 4, lastIndex: last + 1 });
      expect(() => write(FIRST, rowOf(last + 1))).to.throw("P41 unapplied entries are bounded");
    });

    it("let the end of a joint configuration pass in spite of what is not applied", () => {
      turn({ commitIndex: FIRST + 4 });
      write(FIRST, rowOf(FIRST + 1, EntryType.Leave));
      turn({ commitIndex: FIRST + 4 });
    });
  });

  describe("P17: of removed leaders", () => {
    const removed = { ...NO_CONFIGURATION, index: FIRST, voters: [2, 3, 4] };

    it("are broken by a leader that goes on although a quorum knows", () => {
      configuration = removed;
      answer(2, FIRST);
      turn();
      answer(2, FIRST);
      answer(3, FIRST - 1);
      turn();
      answer(3, FIRST);
      expect(() => turn()).to.throw("P17 a removed leader steps down when others know");
    });

    it("hold while no member answers, while it is joint, and for a leader that still votes", () => {
      configuration = { ...removed, outgoing: [1, 2, 3] };
      turn();
      answer(2, FIRST);
      answer(3, FIRST);
      turn();
      configuration = { ...removed, index: FIRST + 1, voters: [1, 2, 3] };
      turn();
      answer(2, FIRST + 1);
      answer(3, FIRST + 1);
      turn();
      turn();
    });
  });

  describe("P27: of the log", () => {
    it("are broken by one that begins behind the log of a follower", () => {
      acknowledge(2, 5);
      turn();
      turn({ firstIndex: 6 });
      expect(() => turn({ firstIndex: 8 })).to.throw("P27 the log is kept for those that follow it");
    });

    it("hold for a member that is away, has restarted, or lagged before, and where space is short", () => {
      acknowledge(2, 5);
      turn();
      rules.onRestarted(2);
      turn({ firstIndex: 8 });
      acknowledge(3, 4);
      turn({ firstIndex: 8 });
      turn({ firstIndex: 9 });
      acknowledge(4, 9);
      pass(9_000);
      answer(2, FIRST);
      answer(3, FIRST);
      turn({ firstIndex: 9 });
      pass(1_000);
      answer(2, FIRST);
      answer(3, FIRST);
      turn({ firstIndex: 12 });
    });
  });
});
