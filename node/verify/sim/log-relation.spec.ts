import { expect } from "chai";
import type { Message } from "../../src/raft/index.ts";
import { type OwnLog, RELATIONS, relationOf } from "./log-relation.ts";

/** Terms of the entries 4 to 7; entry 4 is dropped already. */
const TERMS = [1, 2, 2, 3];
const OWN: OwnLog = { first: 5, last: 7, lastTerm: 3, termOf: (index) => TERMS[index - 4] };

const of = (message: object): string | null => relationOf(message as Message, OWN);

describe("the relation of a message to the log of its reader", () => {
  it("compares the ends of the logs for requests for votes: the term before the index", () => {
    for (const type of ["vote", "pre-vote"]) {
      expect(of({ type, lastTerm: 3, lastIndex: 7 })).to.equal("of an equal log");
      expect(of({ type, lastTerm: 2, lastIndex: 9 })).to.equal("of an older log");
      expect(of({ type, lastTerm: 3, lastIndex: 6 })).to.equal("of an older log");
      expect(of({ type, lastTerm: 4, lastIndex: 2 })).to.equal("of a newer log");
      expect(of({ type, lastTerm: 3, lastIndex: 8 })).to.equal("of a newer log");
    }
  });

  it("compares the place where the entries begin for an Append", () => {
    expect(of({ type: "append", prevIndex: 3, prevTerm: 1 })).to.equal("before its log");
    expect(of({ type: "append", prevIndex: 4, prevTerm: 1 })).to.equal("that fits");
    expect(of({ type: "append", prevIndex: 7, prevTerm: 3 })).to.equal("that fits");
    expect(of({ type: "append", prevIndex: 7, prevTerm: 4 })).to.equal("that conflicts");
    expect(of({ type: "append", prevIndex: 8, prevTerm: 3 })).to.equal("beyond its log");
  });

  it("is none for all others", () => {
    expect(of({ type: "heartbeat", commit: 3 })).to.equal(null);
    expect([...RELATIONS.keys()]).to.deep.equal(["Vote", "PreVote", "Append"]);
  });
});
