import { hash } from "node:crypto";
import { expect } from "chai";
import { AppliedEventLog, AppliedLog, OWNER, putOf, requestOf } from "../../../test/index.ts";
import { readUsage, readUser, writeUser } from "../accounts/index.ts";

import { CoordinationError, DEFAULT_STATE_LIMITS, type Outcome, SequenceRuns, Transaction } from "../core/index.ts";
import { type ClientOperation, encodeRequest } from "../index.ts";
import { type DeleteKeyResult, getKey, type PutKey, type PutKeyResult } from "../keys/index.ts";

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

describe("an operation on logs or accounts, sent again", () => {
  const settings = { duplicateWindowSecs: null, retentionMaxAgeSecs: 60, retentionMaxBytes: null };
  const USER = {
    kind: "create-user",
    userId: "user-anna",
    email: "anna@quoin.local",
    role: "member",
    namespaces: ["default"],
    passwordHash: "scrypt$anna",
    tokenSha256: new Uint8Array(32).fill(1),
    tokenLifetimeMs: 1_000,
  } as const;
  const UNCHANGED = { role: null, namespaces: null, status: null, passwordHash: null, knownPasswordVersion: null };
  const KEY_OF_OWNER = {
    kind: "create-api-key",
    apiKeyId: "key-1",
    name: "ci",
    prefix: "qk_abcdefgh",
    sha256: new Uint8Array(32).fill(2),
    lifetimeMs: 0,
  } as const;

  /** Asks for each in turn, and then for each again. */
  function asked(log: AppliedLog, operations: readonly ClientOperation[]): (readonly [Outcome, Outcome])[] {
    const first = operations.map((operation, at) => log.execute(operation, { request: requestOf(at) }));
    const { revision } = log;
    const again = operations.map((operation, at) => log.execute(operation, { request: requestOf(at) }));
    expect(log.revision).to.equal(revision);
    return first.map((outcome, at) => [outcome, again[at] as Outcome]);
  }

  it("S12: gets the same answer and does not run again, whatever has happened to its object since", () => {
    const events = new AppliedEventLog();
    const { log, logId } = events;
    const outcomes = asked(log, [
      { kind: "create-log", name: "orders", namespace: "default", settings },
      events.operation(["one"]),
      events.operation(["a", "b"], { isBatch: true, idempotencyKey: "k" }),
      { kind: "update-log-settings", logId, changes: { retentionMaxBytes: 7 } },
      { kind: "delete-log", logId },
      KEY_OF_OWNER,
      { kind: "revoke-api-key", apiKeyId: KEY_OF_OWNER.apiKeyId },
      USER,
      { kind: "update-user", userId: USER.userId, ...UNCHANGED, role: "viewer" },
      { kind: "delete-user", userId: USER.userId },
    ]);
    for (const [first, again] of outcomes) {
      expect(first.answer).not.to.be.instanceOf(CoordinationError);
      expect(first.replayed).to.equal("no");
      expect(again.replayed).to.equal("yes");
    }
    const secrets = { sha256: {}, passwordHash: "" };
    for (const [first, again] of outcomes) {
      const expected = JSON.parse(JSON.stringify(first.answer), (name, value) => {
        return name in secrets ? secrets[name as keyof typeof secrets] : value;
      });
      expect(JSON.parse(JSON.stringify(again.answer))).to.deep.equal(expected);
    }
  });

  it("S13: with another payload is refused, and without a request id runs again", () => {
    const events = new AppliedEventLog();
    const { log } = events;
    log.execute(events.operation(["one"]), { request: requestOf(1) });
    const other = log.execute(events.operation(["two"]), { request: requestOf(1, 2) }).answer;
    expect((other as CoordinationError).reason).to.equal("REQUEST_ID_REUSED");
    expect(events.append("one")).to.equal("2");
    expect(events.append("one")).to.equal("3");
  });

  it("S13: gets no stored answer once its caller has lost the rights", () => {
    const events = new AppliedEventLog();
    const { log } = events;
    const operation = events.operation(["one"]);
    log.execute(operation, { request: requestOf(1) });
    writeOwner(log, { role: "viewer" });
    const { answer } = log.execute(operation, { request: requestOf(1) });
    expect((answer as CoordinationError).reason).to.equal("ACCESS_DENIED");
  });

  it("is counted once", () => {
    const events = new AppliedEventLog();
    const { log } = events;
    for (let round = 0; round < 3; round++) {
      log.execute(events.operation(["four"]), { request: requestOf(1) });
    }
    const [hour] = readUsage(log.store, "hour", 0, Number.MAX_SAFE_INTEGER);
    expect(hour).to.include({ appendRequests: 1, eventsAppended: 1, bytesAppended: 4 });
  });

  it("has no sequences in its stored answer if they are too many runs", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 60 });
    const { log } = events;
    const count = 400;
    for (let at = 0; at < count; at += 2) {
      events.append("x", { idempotencyKey: `k:${at}` });
    }
    const batch = events.operation(new Array<string>(count).fill("y"), { isBatch: true, idempotencyKey: "k" });
    const first = log.execute(batch, { request: requestOf(1) });
    const again = log.execute(batch, { request: requestOf(1) });
    expect(again.replayed).to.equal("no-values");
    expect(again.answer).to.deep.equal({ ...first.answer, runs: SequenceRuns.NONE });
  });

  it("is the same request although its member made another id and secret for it", () => {
    const identity = (operation: ClientOperation) => {
      const { requestId } = requestOf(1);
      const { request } = encodeRequest({ principal: OWNER, request: { requestId }, operation }, (bytes) =>
        hash("sha256", bytes, "buffer"),
      );
      return Buffer.from(request?.payloadHash ?? "").toString("hex");
    };
    const password = { kind: "update-user", userId: USER.userId, ...UNCHANGED, knownPasswordVersion: 1 } as const;
    for (const [one, attempt, other] of [
      [KEY_OF_OWNER, { ...KEY_OF_OWNER, apiKeyId: "key-2", prefix: "qk_zyxwvuts" }, { ...KEY_OF_OWNER, name: "cd" }],
      [USER, { ...USER, userId: "other", tokenSha256: new Uint8Array(32) }, { ...USER, passwordHash: "scrypt$again" }],
      [
        { ...password, passwordHash: "scrypt$a" },
        { ...password, passwordHash: "scrypt$a", knownPasswordVersion: 2 },
        { ...password, passwordHash: "scrypt$b" },
      ],
    ] satisfies ClientOperation[][]) {
      expect(identity(attempt as ClientOperation)).to.equal(identity(one as ClientOperation));
      expect(identity(other as ClientOperation)).not.to.equal(identity(one as ClientOperation));
    }
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
