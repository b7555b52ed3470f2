import { expect } from "chai";
import type { ClientOperation } from "../../src/state/index.ts";
import { KeyLifetimes } from "./key-lifetimes.ts";

const KEY = Buffer.from("k");
const RULE = "I23 a key ends when its time is up, and not before";

describe("the lifetimes of keys", () => {
  let lifetimes: KeyLifetimes;
  let index: number;
  beforeEach(() => {
    lifetimes = new KeyLifetimes();
    index = 0;
  });

  function put(tickMs: number, ttlSeconds: number): number {
    index++;
    const operation: ClientOperation = {
      kind: "put-key",
      namespace: "default",
      key: KEY,
      value: Buffer.from("v"),
      ttlSeconds,
      expectedModRevision: undefined,
      returnPrevious: false,
    };
    const answer = { kind: "put-key", modRevision: index, created: true, previous: null, revision: index } as const;
    lifetimes.executed({ index, tickMs, revision: index - 1, operation, answer }, () => true);
    return index;
  }

  function touch(tickMs: number, ttlSeconds: number, modRevision: number): void {
    index++;
    const asked = { namespace: "default", key: KEY, ttlSeconds, expectedModRevision: undefined };
    const operation: ClientOperation = { kind: "touch-key", ...asked };
    const deadlineMs = tickMs + ttlSeconds * 1_000;
    const answer = { kind: "touch-key", modRevision, deadlineMs, revision: modRevision } as const;
    lifetimes.executed({ index, tickMs, revision: modRevision, operation, answer }, () => true);
  }

  function expire(tickMs: number, modRevision: number, isThereThen: boolean): void {
    index++;
    const operation = { kind: "expire-keys", keys: [{ namespace: "default", key: KEY, modRevision }] } as const;
    lifetimes.executed({ index, tickMs, revision: index - 1, operation, answer: null }, () => isThereThen);
  }

  it("end after their TTL, which a later put starts again", () => {
    expire(9_000, put(1_000, 2), false);
    expire(9_999, put(8_000, 2), true);
    put(9_999, 0);
    expire(99_999, 3, true);
    expect(lifetimes.endings).to.deep.equal([{ key: "k", index: 2, revision: 2, setIndex: 1, ttlMs: 2_000 }]);
  });

  it("start again with a touch, under the same revision", () => {
    const revision = put(1_000, 2);
    touch(2_500, 2, revision);
    expire(4_500, revision, true);
    expect(() => expire(4_500, revision, false)).to.throw(RULE);
    expire(4_501, revision, false);
    expect(lifetimes.endings).to.deep.equal([{ key: "k", index: 5, revision: 5, setIndex: 2, ttlMs: 2_000 }]);
  });

  it("do not end earlier, nor at the very moment", () => {
    const revision = put(1_000, 2);
    expire(3_000, revision, true);
    expect(() => expire(3_000, revision, false)).to.throw(RULE);
  });

  it("do not end when another put was meant", () => {
    put(1_000, 2);
    expect(() => expire(9_000, 7, false)).to.throw(RULE);
  });

  it("end indeed", () => {
    const revision = put(1_000, 2);
    expect(() => expire(3_001, revision, true)).to.throw(RULE);
  });
});
