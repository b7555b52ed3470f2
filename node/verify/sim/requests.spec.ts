import { crc32 } from "node:zlib";
import { expect } from "chai";
import { EntryType, encodeEntry, type ProposalOrigin, sealEntry } from "../../src/raft/index.ts";
import { CoordinationError, encodeCommand, type Result } from "../../src/state/index.ts";
import { OWNER } from "../../test/index.ts";
import { type Request, Requests } from "./requests.ts";

function putAt(revision: number): Result {
  return { kind: "put-key", modRevision: revision, created: false, previous: null, revision };
}

function entryOf({ requestId, operation }: Request, origin: ProposalOrigin): Uint8Array {
  const request = { requestId, payloadHash: new Uint8Array(32) };
  const payload = encodeCommand({ principal: OWNER, request, operation });
  const row = encodeEntry(EntryType.Command, { tickMs: 0, wallMs: 0, origin }, payload);
  sealEntry(row, 1, 1, crc32);
  return row;
}

describe("the record of requests", () => {
  let requests: Requests;
  let request: Request;

  function begin(id: number): Request {
    return requests.begin({
      requestId: new Uint8Array(16).fill(id),
      principal: OWNER,
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

  it("refuses an entry of a call that was certainly not executed, even if another call of the request was", () => {
    const caller = { memberId: 1, boot: 1, mayLackSpace: true };
    requests.onEnd(request, caller, new CoordinationError("NO_LEADER", ""));
    requests.onEnd(request, { ...caller, boot: 2 }, null);
    requests.checkAttempts([entryOf(request, { memberId: 1, boot: 2, seq: 1 })], new Set());
    expect(() => requests.checkAttempts([entryOf(request, { memberId: 1, boot: 1, seq: 1 })], new Set())).to.throw(
      "I12 a call that was",
    );
  });

  it("P45: refuses that a deletion finds too little space, or any refusal without a reason", () => {
    const full = new CoordinationError("STORAGE_FULL", "");
    const caller = { memberId: 1, boot: 1, mayLackSpace: true };
    requests.onEnd(request, caller, full);
    const operation = { kind: "delete-key", namespace: "n", key: new Uint8Array(1), returnPrevious: false } as const;
    const deletion = { ...request, operation: { ...operation, expectedModRevision: undefined } };
    expect(() => requests.onEnd(deletion, caller, full)).to.throw("P45 deleting needs no room");
    const touch = { ...deletion, operation: { ...deletion.operation, kind: "touch-key", ttlSeconds: 1 } as const };
    expect(() => requests.onEnd(touch, caller, full)).to.throw("P45 a touch needs no room");
    expect(() => requests.onEnd(request, { ...caller, mayLackSpace: false }, full)).to.throw("P45 one full member");
  });

  it("refuses answers and reads that are older than what had ended when they began", () => {
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
