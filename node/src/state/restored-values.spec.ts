import { expect } from "chai";
import { AppliedLog, requestOf } from "../../test/index.ts";
import { DEFAULT_STATE_LIMITS, type Outcome } from "./core/index.ts";
import type { ClientOperation } from "./operations.ts";
import { restoreValues } from "./restored-values.ts";

const KEY = { namespace: "default", key: Buffer.from("k") };
const LARGE = new Uint8Array(DEFAULT_STATE_LIMITS.replayAnswerBytesMax).fill(7);
const SMALL = Uint8Array.of(1);
const ANY = { expectedModRevision: undefined };

function put(value: Uint8Array, key = KEY): ClientOperation {
  return { kind: "put-key", ...key, value, ttlSeconds: 0, ...ANY, returnPrevious: true };
}

function swap(newValue: Uint8Array, expectedValue: Uint8Array | undefined): ClientOperation {
  return { kind: "compare-and-swap", ...KEY, newValue, expectedValue, ttlSeconds: 0, ...ANY };
}

const REMOVE: ClientOperation = { kind: "delete-key", ...KEY, ...ANY, returnPrevious: true };

describe("values of answers that were too large to be stored", () => {
  let log: AppliedLog;
  let requests: number;

  beforeEach(() => {
    log = new AppliedLog();
    log.execute(put(LARGE));
    requests = 0;
  });

  /** The first outcome, and the restored outcome of a replay, with `between` run in between. */
  function repeated(operation: ClientOperation, between: () => void): readonly [Outcome, Outcome] {
    const request = requestOf(++requests);
    const first = log.execute(operation, { request });
    between();
    const again = log.execute(operation, { request });
    expect(again.replayed).to.equal("no-values");
    return [first, restoreValues(log.store, operation, again)];
  }

  function forgetHistory(): void {
    const { revision } = log;
    const asked = { subject: "spec", request: null };
    log.lead({ kind: "compact-history", revision: revision + 1, ...asked });
    log.lead({ kind: "trim-history", countMax: 100 });
  }

  for (const [name, operation] of [
    ["the value that a put has replaced", put(SMALL)],
    ["the removed value", REMOVE],
    ["the value that a swap has found", swap(SMALL, undefined)],
    ["the value that a swap has written", swap(LARGE, LARGE)],
  ] as const) {
    it(`are found again: ${name}, though the key has changed since`, () => {
      const [first, restored] = repeated(operation, () => {
        log.execute(put(SMALL, { ...KEY, key: Buffer.from("other") }));
        log.execute(put(SMALL));
        log.execute(put(Uint8Array.of(2)));
      });
      expect(restored).to.deep.equal({ answer: first.answer, replayed: "yes" });
    });
  }

  it("are missing if the key has changed and the history is gone, except values in the request itself", () => {
    for (const [operation, isMissing] of [
      [put(SMALL), true],
      [REMOVE, true],
      [swap(SMALL, undefined), true],
      [swap(LARGE, LARGE), false],
    ] as const) {
      log.execute(put(LARGE));
      const [, restored] = repeated(operation, () => {
        log.execute(put(SMALL));
        forgetHistory();
      });
      expect(restored.replayed, operation.kind).to.equal(isMissing ? "no-values" : "yes");
    }
  });

  it("come from the key while it has not changed, without any history", () => {
    const [first, restored] = repeated(swap(SMALL, undefined), forgetHistory);
    expect(restored).to.deep.equal({ answer: first.answer, replayed: "yes" });
  });

  it("do not change in outcomes that lack none", () => {
    const outcome = log.execute(put(SMALL));
    expect(restoreValues(log.store, put(SMALL), outcome)).to.equal(outcome);
  });
});
