import { crc32 } from "node:zlib";
import { expect } from "chai";
import { EntryType, encodeEntry, sealEntry } from "../../src/raft/index.ts";
import { CoordinationError, encodeCommand } from "../../src/state/index.ts";
import { OWNER } from "../../test/index.ts";
import { Attempts } from "./attempts.ts";

const REQUEST = new Uint8Array(16).fill(7);
const NONE: ReadonlySet<number> = new Set();

function rowOf(index: number, origin: { memberId: number; boot: number; seq: number }): Uint8Array {
  const request = { requestId: REQUEST, payloadHash: new Uint8Array(32) };
  const operation = { kind: "create-namespace", namespace: "n" } as const;
  const payload = encodeCommand({ principal: OWNER, request, operation });
  const row = encodeEntry(EntryType.Command, { tickMs: 0, wallMs: 0, origin }, payload);
  sealEntry(row, 1, index, crc32);
  return row;
}

describe("the attempts of calls", () => {
  const first = { memberId: 1, boot: 2 };
  const second = { memberId: 3, boot: 1 };
  const entryOfFirst = rowOf(1, { ...first, seq: 1 });
  let attempts: Attempts;
  beforeEach(() => {
    attempts = new Attempts();
  });

  it("I12: are not in the log if their call was not executed, whatever other calls of the request did", () => {
    attempts.onEnd(REQUEST, first, new CoordinationError("NO_LEADER", ""));
    attempts.onEnd(REQUEST, second, null);
    attempts.check([rowOf(1, { ...second, seq: 9 })], NONE);
    expect(() => attempts.check([entryOfFirst], NONE)).to.throw("I12 a call that was certainly not executed");
  });

  it("may be in the log, or not, if the outcome of their call is unknown", () => {
    attempts.onEnd(REQUEST, first, new CoordinationError("DEADLINE", "", { outcome: "unknown" }));
    attempts.onEnd(REQUEST, second, "lost");
    attempts.check([], NONE);
    attempts.check([entryOfFirst, rowOf(2, { ...second, seq: 4 })], NONE);
  });

  it("I14: are in the log once for each call", () => {
    attempts.onEnd(REQUEST, first, null);
    const again = rowOf(2, { ...first, seq: 2 });
    attempts.check([entryOfFirst], NONE);
    expect(() => attempts.check([entryOfFirst, again], NONE)).to.throw("I14 a call is in the log once");
    attempts.onEnd(REQUEST, first, "lost");
    attempts.check([entryOfFirst, again], NONE);
  });

  it("I14: are in the log again if they were not executed because their caller was revoked", () => {
    attempts.onEnd(REQUEST, first, null);
    const again = rowOf(2, { ...first, seq: 2 });
    attempts.check([entryOfFirst, again], new Set([1]));
    attempts.check([entryOfFirst, again], new Set([1, 2]));
    expect(() => attempts.check([entryOfFirst, again], new Set([3]))).to.throw("I14 a call is in the log once");
  });

  it("are those of one start of a member", () => {
    attempts.onEnd(REQUEST, first, new CoordinationError("NO_LEADER", ""));
    attempts.onEnd(REQUEST, { ...first, boot: 1 }, null);
    attempts.check([rowOf(1, { ...first, boot: 1, seq: 1 })], NONE);
    expect(() => attempts.check([rowOf(1, { ...first, seq: 1 })], NONE)).to.throw("I12");
  });
});
