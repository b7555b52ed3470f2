import { expect } from "chai";
import { AppliedLog, OWNER, putOf, requestOf } from "../../../test/index.ts";
import { readUser, writeUser } from "../accounts/index.ts";
import {
  type CoordinationError,
  DEFAULT_STATE_LIMITS,
  type DeleteKeyResult,
  type PutKeyResult,
  Transaction,
} from "../core/index.ts";
import { getKey, type PutKey } from "../keys/index.ts";

const WINDOW_MS = DEFAULT_STATE_LIMITS.replayWindowMs;
const KEY = Buffer.from("k");
/** A second user, with what the owner may do. */
const OTHER = { subject: "user-other", apiKeyId: "" };

const put = (value: string, changes: Partial<PutKey> = {}) => putOf(KEY, value, changes);

/** Changes the owner's record, or copies it to another user, outside the state machine. */
function writeOwner(log: AppliedLog, changes: Parameters<typeof writeUser>[1] | object): void {
  const owner = readUser(log.store, OWNER.subject);
  if (owner === undefined) {
    throw new Error("there is no owner");
  }
  const transaction = new Transaction(log.store, (previous) => previous, 0);
  writeUser(transaction, { ...owner, ...changes });
  log.store.write(transaction.take());
}

describe("a mutation sent again", () => {
  it("S12: with the same request id and payload gets the same answer and does not run again", () => {
    const log = new AppliedLog();
    const first = log.execute(put("a"), { request: requestOf(1) });
    log.result(put("b"));
    const { revision } = log;
    const second = log.execute(put("a"), { request: requestOf(1) });
    expect(second).to.deep.equal({ answer: first.answer, replayed: "yes" });
    expect(first.replayed).to.equal("no");
    expect(log.revision).to.equal(revision);
    expect(Buffer.from(getKey(log.store, "default", KEY).value).toString()).to.equal("b");
  });

  it("S12: gets the same answer every time, including returned old values", () => {
    const log = new AppliedLog();
    log.result(put("a"));
    const first = log.result(put("b", { returnPrevious: true }), { request: requestOf(1) });
    expect(Buffer.from(first.previous?.value ?? "").toString()).to.equal("a");
    for (let round = 0; round < 3; round++) {
      log.result(put("c"));
      expect(log.result(put("b", { returnPrevious: true }), { request: requestOf(1) })).to.deep.equal(first);
    }
  });

  it("S13: with another payload is refused, changes nothing, and leaves the first answer", () => {
    const log = new AppliedLog();
    const first = log.result(put("a"), { request: requestOf(1, 100) });
    const { revision } = log;
    const error = log.refusal(put("b"), { request: requestOf(1, 101) });
    expect([error.code, error.reason]).to.deep.equal(["INVALID_ARGUMENT", "REQUEST_ID_REUSED"]);
    expect(log.execute(put("b"), { request: requestOf(1, 101) }).replayed).to.equal("no");
    expect(log.revision).to.equal(revision);
    expect(log.execute(put("a"), { request: requestOf(1, 100) })).to.deep.equal({ answer: first, replayed: "yes" });
  });

  it("S13: by another user is another mutation", () => {
    const log = new AppliedLog();
    writeOwner(log, { userId: OTHER.subject, email: "other@quoin.local" });
    const first = log.result(put("a"), { request: requestOf(1) });
    const second = log.execute(put("b"), { request: requestOf(1, 101), principal: OTHER });
    expect(second.replayed).to.equal("no");
    expect(second.answer).to.include({ modRevision: first.modRevision + 1 });
    expect(log.execute(put("a"), { request: requestOf(1) }).answer).to.deep.equal(first);
    expect(log.execute(put("b"), { request: requestOf(1, 101), principal: OTHER }).answer).to.deep.equal(second.answer);
  });

  it("stores refusals by the state, and returns them again although they would be wrong now", () => {
    const log = new AppliedLog();
    const refusals = [
      log.refusal(put("a", { namespace: "none" }), { request: requestOf(1) }),
      log.refusal(put("a", { expectedModRevision: 7 }), { request: requestOf(2) }),
    ];
    expect(refusals.map(({ reason }) => reason)).to.deep.equal(["NAMESPACE_NOT_FOUND", "REVISION_MISMATCH"]);
    log.result({ kind: "create-namespace", namespace: "none" });
    log.result(put("a"));
    const again = [
      log.execute(put("a", { namespace: "none" }), { request: requestOf(1) }),
      log.execute(put("a", { expectedModRevision: 7 }), { request: requestOf(2) }),
    ];
    for (const [at, { answer, replayed }] of again.entries()) {
      const error = answer as CoordinationError;
      const first = refusals[at] as CoordinationError;
      expect(replayed).to.equal("yes");
      expect([error.reason, error.message, error.outcome]).to.deep.equal([first.reason, first.message, "not-executed"]);
      expect(error.details).to.deep.equal(first.details);
    }
  });

  it("stores no refusal of authorisation", () => {
    const log = new AppliedLog();
    writeOwner(log, { namespaces: ["other"] });
    const before = log.progress;
    expect(log.refusal(put("a"), { request: requestOf(1) }).reason).to.equal("NAMESPACE_DENIED");
    expect([log.progress.storedAnswers, log.progress.dataBytes]).to.deep.equal([
      before.storedAnswers,
      before.dataBytes,
    ]);
    writeOwner(log, { namespaces: ["*"] });
    expect(log.execute(put("a"), { request: requestOf(1) }).replayed).to.equal("no");
    expect(Buffer.from(getKey(log.store, "default", KEY).value).toString()).to.equal("a");
  });

  it("after its window runs again, and from then on has the new answer", () => {
    const log = new AppliedLog();
    const first = log.result(put("a"), { request: requestOf(1) });
    log.tickMs += WINDOW_MS;
    expect(log.execute(put("a"), { request: requestOf(1) }).replayed, "at the end of the window").to.equal("yes");
    log.tickMs += 1;
    const second = log.execute(put("a"), { request: requestOf(1) });
    expect(second.replayed).to.equal("no");
    expect(second.answer).to.include({ modRevision: first.modRevision + 1 });
    expect(log.execute(put("a"), { request: requestOf(1) })).to.deep.equal({ answer: second.answer, replayed: "yes" });
    expect(log.progress.storedAnswers, "the older row is left until its generation is dropped").to.equal(2);
  });

  it("after its window may come with another payload", () => {
    const log = new AppliedLog();
    log.result(put("a"), { request: requestOf(1, 100) });
    log.tickMs += WINDOW_MS + 1;
    expect(log.execute(put("b"), { request: requestOf(1, 101) }).replayed).to.equal("no");
    expect(log.refusal(put("a"), { request: requestOf(1, 100) }).reason).to.equal("REQUEST_ID_REUSED");
  });

  it("S4: does not extend its window", () => {
    const log = new AppliedLog();
    log.result(put("a"), { request: requestOf(1) });
    for (let step = 0; step < 3; step++) {
      log.tickMs += WINDOW_MS / 3;
      expect(log.execute(put("a"), { request: requestOf(1) }).replayed).to.equal("yes");
    }
    log.tickMs += 1;
    expect(log.execute(put("a"), { request: requestOf(1) }).replayed).to.equal("no");
  });

  it("S20: uses the cluster's tick, whatever the wall clock does", () => {
    const log = new AppliedLog();
    log.result(put("a"), { request: requestOf(1) });
    log.wallMs += 100 * WINDOW_MS;
    expect(log.execute(put("a"), { request: requestOf(1) }).replayed).to.equal("yes");
  });
});

describe("answers that are too large", () => {
  const large = "x".repeat(DEFAULT_STATE_LIMITS.replayAnswerBytesMax);

  it("are complete the first time, and without their values on a retry", () => {
    const log = new AppliedLog();
    log.result(put(large));
    const operations = [
      put("b", { returnPrevious: true }),
      put(large),
      { kind: "delete-key", namespace: "default", key: KEY, expectedModRevision: undefined, returnPrevious: true },
    ] as const;
    for (const [at, operation] of operations.entries()) {
      const first = log.execute(operation, { request: requestOf(at) });
      const second = log.execute(operation, { request: requestOf(at) });
      const carriesValue = operation.returnPrevious;
      expect(first.replayed).to.equal("no");
      expect(second.replayed).to.equal(carriesValue ? "no-values" : "yes");
      expect(first.answer)
        .to.have.property("previous")
        .that.satisfies((previous: unknown) => {
          return (previous !== null) === carriesValue;
        });
      const { previous } = first.answer as PutKeyResult | DeleteKeyResult;
      const kept = previous === null ? null : { ...previous, value: new Uint8Array(0) };
      expect(second.answer).to.deep.equal({ ...first.answer, previous: kept });
    }
  });

  it("are too large from one byte above the limit", () => {
    const log = new AppliedLog();
    const operation = {
      kind: "compare-and-swap",
      namespace: "default",
      key: KEY,
      expectedValue: undefined,
      expectedModRevision: undefined,
      ttlSeconds: 0,
    } as const;
    // Kind, revision, success, existence, length of the value, and mod revision take 23 bytes.
    for (const [id, size, replayed] of [
      [1, large.length - 23, "yes"],
      [2, large.length - 22, "no-values"],
    ] as const) {
      const swap = { ...operation, key: Buffer.from(`k${id}`), newValue: new Uint8Array(size).fill(id) };
      const first = log.execute(swap, { request: requestOf(id) });
      const second = log.execute(swap, { request: requestOf(id) });
      expect(second.replayed).to.equal(replayed);
      const kept = replayed === "yes" ? swap.newValue : new Uint8Array(0);
      expect(second.answer).to.deep.equal({ ...first.answer, currentValue: kept });
    }
  });

  it("keep everything if they are refusals, and do not claim to have lost values", () => {
    const log = new AppliedLog();
    // Each of these characters takes six in the message.
    const key = new Uint8Array(1_024).fill(1);
    const missing = {
      kind: "delete-key",
      namespace: "default",
      key,
      expectedModRevision: undefined,
      returnPrevious: false,
    } as const;
    const first = log.refusal(missing, { request: requestOf(1) });
    expect(first.message.length).to.be.above(DEFAULT_STATE_LIMITS.replayAnswerBytesMax);
    const second = log.execute(missing, { request: requestOf(1) });
    expect(second.replayed).to.equal("yes");
    expect((second.answer as CoordinationError).message).to.equal(first.message);
  });
});
