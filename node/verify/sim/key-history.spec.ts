import { expect } from "chai";
import type { ClientOperation, Result, StoredKey } from "../../src/state/index.ts";
import { CoordinationError } from "../../src/state/index.ts";
import { foundAnswer, KeyHistory, keyAnswerOf } from "./key-history.ts";

describe("the history of the keys", () => {
  let nowMs: number;
  let history: KeyHistory;
  beforeEach(() => {
    nowMs = 0;
    history = new KeyHistory(() => nowMs);
  });

  function put(value: string, revision: number, created = true): void {
    const operation: ClientOperation = {
      kind: "put-key",
      namespace: "default",
      key: Buffer.from("k"),
      value: Buffer.from(value),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    };
    const open = history.begin("c1", operation);
    nowMs++;
    const answer: Result = { kind: "put-key", modRevision: revision, created, previous: null, revision };
    const told = keyAnswerOf(answer);
    open?.end(told === null ? { kind: "unknown" } : { kind: "ok", answer: told });
    nowMs++;
  }

  function get(stored: Partial<StoredKey> | undefined, revision: number): void {
    const open = history.beginGet("c2", "k");
    nowMs++;
    const whole = stored === undefined ? undefined : { ...BLANK, ...stored };
    open.end({ kind: "ok", answer: foundAnswer(whole, revision) });
    nowMs++;
  }

  const first = { value: Buffer.from("a"), createRevision: 5, modRevision: 5, version: 1 };

  it("is correct when reads show the written values", () => {
    get(undefined, 4);
    put("a", 5);
    get(first, 5);
    history.check([]);
  });

  it("is wrong when a read shows an old value", () => {
    put("a", 5);
    put("b", 6, false);
    get(first, 6);
    expect(() => history.check([])).to.throw("history: answers follow from the revisions that they tell");
  });

  it("is wrong when a key is gone without a delete, and correct when its TTL was over", () => {
    put("a", 5);
    get(undefined, 6);
    expect(() => history.check([])).to.throw("history:");
    history.check([{ key: "k", revision: 6, notBeforeMs: 1.5, notAfterMs: 2.5 }]);
  });

  it("describes commands as a history does", () => {
    expect(keyAnswerOf(new CoordinationError("KEY_NOT_FOUND", "none"))).to.deep.equal({ kind: "absent" });
    expect(keyAnswerOf(new CoordinationError("REVISION_MISMATCH", "other"))).to.equal(null);
    const swap = { kind: "compare-and-swap", currentExists: true, currentValue: Buffer.from("x") } as const;
    expect(keyAnswerOf({ ...swap, success: true, modRevision: 9, revision: 9 })).to.deep.equal({
      kind: "swapped",
      revision: 9,
    });
    expect(keyAnswerOf({ ...swap, success: false, modRevision: 7, revision: 9 })).to.deep.equal({
      kind: "not-swapped",
      current: { value: "x", modRevision: 7 },
      revision: 9,
    });
  });
});

const BLANK: StoredKey = {
  key: Buffer.from("k"),
  value: Buffer.from(""),
  createRevision: 1,
  modRevision: 1,
  version: 1,
  deadlineMs: 0,
};
