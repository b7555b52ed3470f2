import { expect } from "chai";
import { CoordinationError, type Result } from "../src/state/index.ts";
import { type Request, Requests } from "./requests.ts";

function putAt(revision: number): Result {
  return { kind: "put-key", modRevision: revision, created: false, previous: null, revision };
}

describe("the record of requests", () => {
  let requests: Requests;
  let request: Request;

  function begin(id: number): Request {
    return requests.begin({
      requestId: new Uint8Array(16).fill(id),
      payloadHash: new Uint8Array(32),
      startMs: 0,
      operation: { kind: "create-namespace", namespace: "n" },
    });
  }

  const executed = (index: number, answer: Result | CoordinationError) => {
    return new Map([[request.requestId.toHex(), { index, answer }]]);
  };

  beforeEach(() => {
    requests = new Requests();
    request = begin(1);
  });

  it("accepts answers that are those of the log", () => {
    requests.onAnswer(request, { answer: putAt(4), replayed: "no" });
    requests.onAnswer(request, { answer: putAt(4), replayed: "yes" });
    requests.check(executed(9, putAt(4)));
  });

  it("refuses a second answer, another one than that of the log, and one that the log does not have", () => {
    requests.onAnswer(request, { answer: putAt(4), replayed: "no" });
    expect(() => requests.onAnswer(request, { answer: putAt(5), replayed: "yes" })).to.throw("I12 a request has one");
    expect(() => requests.check(executed(9, putAt(5)))).to.throw("I12 answers are those of the log");
    expect(() => requests.check(executed(9, new CoordinationError("QUOTA", "")))).to.throw("I12 answers are those");
    expect(() => requests.check(new Map())).to.throw("I22 what was acknowledged is in the log");
  });

  it("refuses that what was certainly not executed is in the log", () => {
    request.refusals++;
    expect(() => requests.check(executed(9, putAt(4)))).to.throw("I12 what was certainly not executed");
    request.isUncertain = true;
    requests.check(executed(9, putAt(4)));
  });

  it("refuses answers and reads from before what had ended when they began", () => {
    requests.onAnswer(request, { answer: putAt(4), replayed: "no" });
    const later = begin(2);
    expect(() => requests.onAnswer(later, { answer: putAt(3), replayed: "no" })).to.throw(
      "I13 an operation comes after",
    );
    expect(() => requests.onRead("a read", 4, 3)).to.throw("I13 a read shows all");
    requests.onRead("a read", 4, 6);
    expect(requests.floor).to.equal(6);
  });
});
