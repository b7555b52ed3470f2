import { expect } from "chai";
import { lastSequenceOf } from "./nats-event-logs.ts";

describe("the answer of NATS to a publish", () => {
  it("has the sequence of the last message", () => {
    expect(lastSequenceOf({ seq: 7, duplicate: false }, 1)).to.equal(7);
    expect(lastSequenceOf({ seq: 1_007, duplicate: false, count: 1_000 }, 1_000)).to.equal(1_007);
  });

  it("is refused for a duplicate, and for another number of messages", () => {
    expect(() => lastSequenceOf({ seq: 7, duplicate: true }, 1)).to.throw("as a duplicate of message 7");
    expect(() => lastSequenceOf({ seq: 7, duplicate: false, count: 2 }, 3)).to.throw(
      "3 messages was acknowledged as 2",
    );
    expect(() => lastSequenceOf({ seq: 7, duplicate: false }, 3)).to.throw("3 messages was acknowledged as 1");
  });
});
