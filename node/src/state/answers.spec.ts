import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../primitives/index.ts";
import { CoordinationError, SequenceRuns, type StoredKey, type StoredResult } from "./core/index.ts";
import { ANSWERS } from "./operations.ts";
import { isAcquisition } from "./replay/index.ts";

const text = fc.string({ unit: "grapheme", maxLength: 20 }).filter((value) => value.isWellFormed());
const bytes = fc.uint8Array({ maxLength: 30 });
const count = fc.maxSafeNat();
const previous: fc.Arbitrary<StoredKey | null> = fc.option(
  fc.record({
    key: bytes,
    value: bytes,
    createRevision: count,
    modRevision: count,
    version: count,
    deadlineMs: count,
  }),
);
const id = fc.uint8Array({ minLength: 16, maxLength: 16 });
const setting = fc.option(count);
const eventLog = fc.record({
  logId: id,
  number: count,
  name: text,
  namespace: text,
  settings: fc.record({ duplicateWindowSecs: setting, retentionMaxAgeSecs: setting, retentionMaxBytes: setting }),
  createdAtMs: count,
  createdBy: text,
  lastSequence: count,
  firstSequence: count,
  sizeBytes: count,
  oldestTickMs: count,
  retentionDueMs: count,
});
/** Without what an answer does not have. */
const apiKey = fc.record({
  apiKeyId: text,
  userId: text,
  name: text,
  prefix: text,
  sha256: fc.constant(new Uint8Array(0)),
  createdAtMs: count,
  expiresAtMs: count,
  revokedAtMs: fc.constant(0),
  lastUsedAtMs: fc.constant(0),
});
const user = fc.record({
  userId: text,
  email: text,
  role: fc.constantFrom("viewer" as const, "member" as const, "admin" as const, "owner" as const),
  namespaces: fc.array(text, { maxLength: 3 }),
  status: fc.constantFrom("unverified" as const, "active" as const, "disabled" as const),
  passwordHash: fc.constant(""),
  passwordVersion: fc.constant(0),
  createdAtMs: count,
});
const result: fc.Arbitrary<StoredResult> = fc.oneof(
  fc.record({ kind: fc.constant("create-namespace" as const), createdAtMs: count, revision: count }),
  fc.record({
    kind: fc.constant("put-key" as const),
    modRevision: count,
    created: fc.boolean(),
    previous,
    revision: count,
  }),
  fc.record({ kind: fc.constant("delete-key" as const), previous, revision: count }),
  fc.record({
    kind: fc.constant("compare-and-swap" as const),
    success: fc.boolean(),
    currentExists: fc.boolean(),
    currentValue: bytes,
    modRevision: count,
    revision: count,
  }),
  fc.record({ kind: fc.constant("touch-key" as const), modRevision: count, deadlineMs: count, revision: count }),
  fc.record({
    kind: fc.constant("allocate-memory" as const),
    regionId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    sizeBytes: count,
    version: count,
    revision: count,
  }),
  fc.record({
    kind: fc.constant("resize-memory" as const),
    sizeBytes: count,
    previousSizeBytes: count,
    version: count,
    revision: count,
  }),
  fc.record({ kind: fc.constant("free-memory" as const), revision: count }),
  fc.record({ kind: fc.constant("write-memory" as const), bytesWritten: count, version: count, revision: count }),
  fc.record({ kind: fc.constant("create-lock" as const), createdAtMs: count, revision: count }),
  fc.record({ kind: fc.constant("release-lock" as const), revision: count }),
  fc.record({ kind: fc.constant("delete-lock" as const), revision: count }),
  fc.record({ kind: fc.constant("delete-namespace" as const), revision: count }),
  fc.record({ kind: fc.constant("create-semaphore" as const), createdAtMs: count, revision: count }),
  fc.record({ kind: fc.constant("update-semaphore" as const), revision: count }),
  fc.record({ kind: fc.constant("set-lock-value" as const), revision: count }),
  fc.record({
    kind: fc.constant("create-session" as const),
    sessionId: count,
    deadlineMs: count,
    revision: count,
  }),
  fc.record({ kind: fc.constant("end-session" as const), endedObjects: count, revision: count }),
  fc.record({
    kind: fc.constant("force-release-lock" as const),
    previous: fc.option(
      fc.record({
        token: count,
        owner: text,
        subject: text,
        requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
        mode: fc.constantFrom("exclusive" as const, "read" as const, "write" as const),
        ttlSeconds: count,
        acquiredAtMs: count,
        deadlineMs: count,
      }),
    ),
    revision: count,
  }),
  fc.record({ kind: fc.constant("compact-history" as const), compactRevision: count, revision: count }),
  fc.record({ kind: fc.constant("put-settings" as const), settingsRevision: count, revision: count }),
  fc.record({ kind: fc.constant("rotate-signing-key" as const), kid: text, revision: count }),
  fc.record({ kind: fc.constant("reset-owner" as const), userId: text, created: fc.boolean(), revision: count }),
  fc.record({
    kind: fc.constantFrom("create-log" as const, "update-log-settings" as const),
    log: eventLog,
    revision: count,
  }),
  fc.record({ kind: fc.constant("delete-log" as const), logId: id, revision: count }),
  fc.record({
    kind: fc.constant("append-events" as const),
    logId: id,
    runs: fc
      .array(fc.record({ position: count, count, firstSequence: count }), { maxLength: 4 })
      .map((runs) => SequenceRuns.of(runs)),
    lastSequence: count,
    appendedEvents: count,
    appendedBytes: count,
    revision: count,
  }),
  fc.record({ kind: fc.constant("create-api-key" as const), apiKey, revision: count }),
  fc.record({ kind: fc.constant("revoke-api-key" as const), apiKeyId: text, revokedAtMs: count, revision: count }),
  fc.record({
    kind: fc.constantFrom("create-user" as const, "update-user" as const),
    user,
    revision: count,
  }),
  fc.record({ kind: fc.constant("delete-user" as const), userId: text, revision: count }),
);
const refusal = fc
  .record({
    reason: fc.constantFrom("KEY_NOT_FOUND" as const, "REVISION_MISMATCH" as const, "QUOTA" as const),
    message: text,
    details: fc.array(fc.tuple(fc.oneof(text, fc.constant("__proto__")), text), { maxLength: 3 }),
  })
  .map(({ reason, message, details }) => new CoordinationError(reason, message, { details: new Map(details) }));

/** The comparable content of a refusal: errors also contain where they were made. */
function contentOf(answer: StoredResult | CoordinationError): unknown {
  if (answer instanceof CoordinationError) {
    const { code, reason, message, details, outcome } = answer;
    return { code, reason, message, details, outcome };
  }
  return answer;
}

const KEY: StoredKey = {
  key: Uint8Array.of(0x6b),
  value: Uint8Array.of(1, 2),
  createRevision: 3,
  modRevision: 4,
  version: 5,
  deadlineMs: 6,
};

describe("answers", () => {
  it("come back as written, and are not acquisitions: results of every kind, and refusals with their details", () => {
    fc.assert(
      fc.property(fc.oneof(result, refusal), (answer) => {
        const bytes = ANSWERS.encode(answer);
        expect(isAcquisition(bytes)).to.equal(false);
        const decoded = ANSWERS.decode(bytes);
        expect(contentOf(decoded)).to.deep.equal(contentOf(answer));
        expect(decoded instanceof CoordinationError).to.equal(answer instanceof CoordinationError);
      }),
      { numRuns: 500 },
    );
  });

  // These bytes are in the state of every member: a change here changes the storage format.
  for (const [name, answer, golden] of [
    [
      "compact-history",
      { kind: "compact-history", compactRevision: 1, revision: 2 },
      "28 0000000000000002 0000000000000001",
    ],
    [
      "put-settings",
      { kind: "put-settings", settingsRevision: 1, revision: 2 },
      "3c 0000000000000002 0000000000000001",
    ],
    ["rotate-signing-key", { kind: "rotate-signing-key", kid: "k", revision: 2 }, "3d 0000000000000002 000000016b"],
    [
      "reset-owner",
      { kind: "reset-owner", userId: "u", created: true, revision: 2 },
      "3e 0000000000000002 0000000175 01",
    ],
    [
      "create-namespace",
      { kind: "create-namespace", createdAtMs: 1, revision: 2 },
      "01 0000000000000002 0000000000000001",
    ],
    [
      "put-key",
      { kind: "put-key", modRevision: 7, created: false, previous: KEY, revision: 7 },
      "02 0000000000000007 0000000000000007 00 01 000000016b 000000020102 0000000000000003 0000000000000004" +
        "0000000000000005 0000000000000006",
    ],
    [
      "put-key without previous",
      { kind: "put-key", modRevision: 7, created: true, previous: null, revision: 7 },
      "02 0000000000000007 0000000000000007 01 00",
    ],
    ["create-lock", { kind: "create-lock", createdAtMs: 1, revision: 2 }, "14 0000000000000002 0000000000000001"],
    ["release-lock", { kind: "release-lock", revision: 2 }, "15 0000000000000002"],
    [
      "force-release-lock of none",
      { kind: "force-release-lock", previous: null, revision: 2 },
      "16 0000000000000002 00",
    ],
    [
      "force-release-lock",
      {
        kind: "force-release-lock",
        previous: {
          token: 3,
          owner: "o",
          subject: "u",
          requestId: new Uint8Array(16).fill(0xee),
          mode: "read",
          ttlSeconds: 4,
          acquiredAtMs: 5,
          deadlineMs: 6,
        },
        revision: 2,
      },
      `16 0000000000000002 01 0000000000000003 000000016f 0000000175 ${"ee".repeat(16)} 01 ` +
        "0000000000000004 0000000000000005 0000000000000006",
    ],
    [
      "force-release-lock of a semaphore",
      {
        kind: "force-release-lock",
        previous: {
          token: 3,
          owner: "o",
          subject: "u",
          requestId: new Uint8Array(16).fill(0xee),
          mode: "permits",
          permits: 7,
          ttlSeconds: 4,
          acquiredAtMs: 5,
          deadlineMs: 6,
        },
        revision: 2,
      },
      `16 0000000000000002 01 0000000000000003 000000016f 0000000175 ${"ee".repeat(16)} 13 0000000000000007 ` +
        "0000000000000004 0000000000000005 0000000000000006",
    ],
    ["delete-lock", { kind: "delete-lock", revision: 2 }, "51 0000000000000002"],
    ["delete-namespace", { kind: "delete-namespace", revision: 2 }, "5a 0000000000000002"],
    [
      "create-semaphore",
      { kind: "create-semaphore", createdAtMs: 1, revision: 2 },
      "52 0000000000000002 0000000000000001",
    ],
    ["update-semaphore", { kind: "update-semaphore", revision: 2 }, "53 0000000000000002"],
    ["set-lock-value", { kind: "set-lock-value", revision: 2 }, "54 0000000000000002"],
    [
      "create-session",
      { kind: "create-session", sessionId: 8, deadlineMs: 9, revision: 8 },
      "64 0000000000000008 0000000000000008 0000000000000009",
    ],
    ["end-session", { kind: "end-session", endedObjects: 3, revision: 9 }, "66 0000000000000009 0000000000000003"],
    ["delete-key", { kind: "delete-key", previous: null, revision: 8 }, "03 0000000000000008 00"],
    [
      "compare-and-swap",
      {
        kind: "compare-and-swap",
        success: true,
        currentExists: true,
        currentValue: Uint8Array.of(9),
        modRevision: 10,
        revision: 11,
      },
      "04 000000000000000b 01 01 0000000109 000000000000000a",
    ],
    [
      "touch-key",
      { kind: "touch-key", modRevision: 1, deadlineMs: 2, revision: 3 },
      "0c 0000000000000003 0000000000000001 0000000000000002",
    ],
    [
      "allocate-memory",
      { kind: "allocate-memory", regionId: new Uint8Array(16).fill(0xee), sizeBytes: 1, version: 2, revision: 3 },
      `1e 0000000000000003 ${"ee".repeat(16)} 0000000000000001 0000000000000002`,
    ],
    [
      "resize-memory",
      { kind: "resize-memory", sizeBytes: 1, previousSizeBytes: 2, version: 3, revision: 4 },
      "1f 0000000000000004 0000000000000001 0000000000000002 0000000000000003",
    ],
    ["free-memory", { kind: "free-memory", revision: 5 }, "20 0000000000000005"],
    [
      "write-memory",
      { kind: "write-memory", bytesWritten: 1, version: 2, revision: 3 },
      "21 0000000000000003 0000000000000001 0000000000000002",
    ],
    [
      "create-log",
      {
        kind: "create-log",
        log: {
          logId: new Uint8Array(16).fill(0xee),
          number: 1,
          name: "l",
          namespace: "ns",
          settings: { duplicateWindowSecs: null, retentionMaxAgeSecs: 2, retentionMaxBytes: null },
          createdAtMs: 3,
          createdBy: "u",
          lastSequence: 4,
          firstSequence: 5,
          sizeBytes: 6,
          oldestTickMs: 7,
          retentionDueMs: 8,
        },
        revision: 9,
      },
      `32 0000000000000009 ${"ee".repeat(16)} 0000000000000001 000000016c 000000026e73 ` +
        "00 0000000000000000 01 0000000000000002 00 0000000000000000 0000000000000003 0000000175 0000000000000004 " +
        "0000000000000005 0000000000000006 0000000000000007 0000000000000008",
    ],
    [
      "append-events",
      {
        kind: "append-events",
        logId: new Uint8Array(16).fill(0xee),
        runs: SequenceRuns.one(0, 2, 5),
        lastSequence: 6,
        appendedEvents: 2,
        appendedBytes: 3,
        revision: 4,
      },
      `35 0000000000000004 ${"ee".repeat(16)} 00000001 0000000000000000 0000000000000002 0000000000000005 ` +
        "0000000000000006 0000000000000002 0000000000000003",
    ],
    [
      "create-api-key",
      {
        kind: "create-api-key",
        apiKey: {
          apiKeyId: "k",
          userId: "u",
          name: "n",
          prefix: "p",
          sha256: new Uint8Array(32).fill(0xdd),
          createdAtMs: 1,
          expiresAtMs: 2,
          revokedAtMs: 0,
          lastUsedAtMs: 0,
        },
        revision: 3,
      },
      "3f 0000000000000003 000000016b 0000000175 000000016e 0000000170 0000000000000001 0000000000000002",
    ],
    [
      "create-user",
      {
        kind: "create-user",
        user: {
          userId: "u",
          email: "e",
          role: "admin",
          namespaces: ["n"],
          status: "active",
          passwordHash: "secret",
          passwordVersion: 1,
          createdAtMs: 2,
        },
        revision: 3,
      },
      "41 0000000000000003 0000000175 0000000165 02 00000001 000000016e 01 0000000000000002",
    ],
    [
      "a refusal",
      new CoordinationError("QUOTA", "full", { details: new Map([["a", "b"]]) }),
      "00 0000000551554f5441 0000000466756c6c 00000001 0000000161 0000000162",
    ],
  ] as readonly (readonly [string, StoredResult | CoordinationError, string])[]) {
    it(`have these bytes: ${name}`, () => {
      expect(ANSWERS.encode(answer).toHex()).to.equal(golden.replaceAll(" ", ""));
    });
  }

  it("are refused after every truncation, and with a byte more", () => {
    fc.assert(
      fc.property(fc.oneof(result, refusal), (answer) => {
        const encoded = ANSWERS.encode(answer);
        for (let length = 0; length < encoded.length; length++) {
          expect(() => ANSWERS.decode(encoded.subarray(0, length))).to.throw(InvariantViolation);
        }
        expect(() => ANSWERS.decode(Uint8Array.of(...encoded, 0))).to.throw(InvariantViolation);
      }),
      { numRuns: 20 },
    );
  });

  it("of an unknown kind or reason are refused", () => {
    for (const kind of [7, 255]) {
      const encoded = ANSWERS.encode({ kind: "delete-key", previous: null, revision: 8 });
      encoded[0] = kind;
      expect(() => ANSWERS.decode(encoded)).to.throw(InvariantViolation, "known kind");
    }
    const quota = ANSWERS.encode(new CoordinationError("QUOTA", "full"));
    quota[5] = 0x71; // "qUOTA"
    expect(() => ANSWERS.decode(quota)).to.throw(InvariantViolation, "known reason");
  });
});

describe("answers without their values", () => {
  it("keep everything else", () => {
    const put = { kind: "put-key", modRevision: 7, created: false, previous: KEY, revision: 7 } as const;
    expect(ANSWERS.withoutValues(put)).to.deep.equal({ ...put, previous: { ...KEY, value: new Uint8Array(0) } });
    expect(ANSWERS.withoutValues({ ...put, previous: null })).to.deep.equal({ ...put, previous: null });
    const removed = { kind: "delete-key", previous: KEY, revision: 8 } as const;
    expect(ANSWERS.withoutValues(removed)).to.deep.equal({
      ...removed,
      previous: { ...KEY, value: new Uint8Array(0) },
    });
    const swap = {
      kind: "compare-and-swap",
      success: false,
      currentExists: true,
      currentValue: Uint8Array.of(9),
      modRevision: 10,
      revision: 11,
    } as const;
    expect(ANSWERS.withoutValues(swap)).to.deep.equal({ ...swap, currentValue: new Uint8Array(0) });
  });

  it("are the answers themselves if they have none", () => {
    const created = { kind: "create-namespace", createdAtMs: 1, revision: 2 } as const;
    const error = new CoordinationError("QUOTA", "full");
    expect(ANSWERS.withoutValues(created)).to.equal(created);
    expect(ANSWERS.withoutValues(error)).to.equal(error);
  });
});
