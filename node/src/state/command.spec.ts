import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import fc from "fast-check";
import { itNoticesDamage, OWNER, requestOf } from "../../test/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { ENTRY_BYTES_MAX, ENTRY_HEADER_BYTES } from "../raft/index.ts";
import { COMMAND_BYTES_MAX, type Command, decodeCommand, encodeCommand, encodeRequest, isGrowing } from "./command.ts";
import type { ClientOperation, ClusterOperation } from "./operations.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());
const namespace = fc.oneof(text, fc.constantFrom("default", "__proto__", "constructor"));
const bytes = fc.uint8Array({ maxLength: 30 });
const count = fc.maxSafeNat();
const revision = fc.option(fc.oneof(fc.constant(0), count), { nil: undefined });

const guard = fc.option(fc.record({ lockName: text, fencingToken: count, rw: fc.boolean() }), { nil: undefined });
const lockName = { namespace, rw: fc.boolean(), name: text };
const claim = fc.oneof(
  fc.record({ mode: fc.constant("permits" as const), permits: count }),
  fc.record({ mode: fc.constant("exclusive" as const), value: bytes }),
);
const origin = fc.record({ memberId: count, boot: count, seq: count });

/** The operations, with a guard or without. */
function guarded<Operation extends object>(operation: fc.Arbitrary<Operation>): fc.Arbitrary<Operation> {
  return fc.tuple(operation, guard).map(([bare, under]) => (under === undefined ? bare : { ...bare, guard: under }));
}

/** With a session or without one. */
function owned<Operation extends object>(operation: fc.Arbitrary<Operation>): fc.Arbitrary<Operation> {
  const sessionId = fc.option(count, { nil: undefined });
  return fc.tuple(operation, sessionId).map(([bare, of]) => (of === undefined ? bare : { ...bare, sessionId: of }));
}

const regionMutation = guarded(
  fc.record({ namespace, regionId: fc.uint8Array({ minLength: 16, maxLength: 16 }), expectedVersion: revision }),
);

const clientOperation: fc.Arbitrary<ClientOperation> = fc.oneof(
  fc.record({ kind: fc.constant("create-namespace" as const), namespace }),
  fc.record({ kind: fc.constant("delete-namespace" as const), namespace, recursive: fc.boolean() }),
  guarded(
    owned(
      fc.record({
        kind: fc.constant("put-key" as const),
        namespace,
        key: bytes,
        value: bytes,
        ttlSeconds: count,
        expectedModRevision: revision,
        returnPrevious: fc.boolean(),
      }),
    ),
  ),
  guarded(
    fc.record({
      kind: fc.constant("delete-key" as const),
      namespace,
      key: bytes,
      expectedModRevision: revision,
      returnPrevious: fc.boolean(),
    }),
  ),
  guarded(
    owned(
      fc.record({
        kind: fc.constant("compare-and-swap" as const),
        namespace,
        key: bytes,
        expectedValue: fc.option(bytes, { nil: undefined }),
        newValue: bytes,
        expectedModRevision: revision,
        ttlSeconds: count,
      }),
    ),
  ),
  guarded(
    fc.record({
      kind: fc.constant("touch-key" as const),
      namespace,
      key: bytes,
      ttlSeconds: count,
      expectedModRevision: revision,
    }),
  ),
  fc.record({
    kind: fc.constant("create-lock" as const),
    ...lockName,
    ttlSeconds: count,
    lockDelaySeconds: count,
  }),
  fc.record({
    kind: fc.constant("acquire-lock" as const),
    namespace,
    name: text,
    mode: fc.constantFrom("exclusive" as const, "read" as const, "write" as const),
    ttlSeconds: count,
    owner: text,
    waitMs: count,
    fencingToken: count,
  }),
  fc
    .tuple(
      claim,
      fc.record({ namespace, name: text, ttlSeconds: count, owner: text, waitMs: count, fencingToken: count }),
    )
    .map(([claimed, rest]) => ({ kind: "acquire-lock" as const, ...rest, ...claimed })),
  fc.record({
    kind: fc.constant("create-semaphore" as const),
    namespace,
    name: text,
    permits: count,
    ttlSeconds: count,
  }),
  fc.record({ kind: fc.constant("update-semaphore" as const), namespace, name: text, permits: count }),
  fc.record({
    kind: fc.constant("set-lock-value" as const),
    namespace,
    name: text,
    fencingToken: count,
    owner: text,
    value: bytes,
  }),
  fc.record({ kind: fc.constant("allocate-memory" as const), namespace, sizeBytes: count, label: text }),
  fc
    .tuple(regionMutation, count)
    .map(([fields, sizeBytes]) => ({ kind: "resize-memory" as const, ...fields, sizeBytes })),
  regionMutation.map((fields) => ({ kind: "free-memory" as const, ...fields })),
  fc
    .tuple(regionMutation, count, bytes)
    .map(([fields, offset, data]) => ({ kind: "write-memory" as const, ...fields, offset, data })),
  fc.record({
    kind: fc.constant("release-lock" as const),
    ...lockName,
    mode: fc.constantFrom(null, "exclusive" as const, "read" as const, "write" as const, "permits" as const),
    owner: text,
    fencingToken: count,
  }),
  fc.record({ kind: fc.constant("force-release-lock" as const), ...lockName, fencingToken: count, reason: text }),
  fc.record({ kind: fc.constant("delete-lock" as const), ...lockName, force: fc.boolean() }),
  fc.record({
    kind: fc.constant("delete-lock" as const),
    ...lockName,
    force: fc.boolean(),
    semaphore: fc.constant(true),
  }),
  fc.record({
    kind: fc.constant("create-session" as const),
    namespace,
    ttlSeconds: count,
    owner: text,
    metadata: bytes,
  }),
  fc.record({ kind: fc.constant("end-session" as const), namespace, sessionId: count, force: fc.boolean() }),
);
const leaderOperation: fc.Arbitrary<ClusterOperation> = fc.oneof(
  fc.record({
    kind: fc.constant("expire-keys" as const),
    keys: fc.array(fc.record({ namespace, key: bytes, modRevision: count }), { maxLength: 4 }),
  }),
  fc.constant({ kind: "tick" as const }),
  fc.constant({ kind: "drop-replays" as const }),
  fc.record({
    kind: fc.constant("erase-namespaces" as const),
    rowsMax: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  }),
  fc.record({
    kind: fc.constant("trim-history" as const),
    countMax: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  }),
  fc.record({
    kind: fc.constant("check-digest" as const),
    index: count,
    digest: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  }),
  fc.record({
    kind: fc.constant("set-cluster-version" as const),
    version: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  }),
  fc.record({
    kind: fc.constant("compact-history" as const),
    revision: count,
    subject: text,
    request: fc.option(
      fc.record({
        requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
        payloadHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      }),
    ),
  }),
  fc.record({ kind: fc.constant("erase-memory" as const), rowsMax: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
  fc.record({
    kind: fc.constant("expire-locks" as const),
    timers: fc.array(
      fc.record({
        about: fc.constantFrom("hold" as const, "wait" as const, "delay" as const),
        lock: fc.record(lockName),
        number: count,
      }),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constant("renew-sessions" as const),
    renewals: fc.array(
      fc.record({
        principal: fc.record({ subject: text, apiKeyId: text }),
        namespace,
        sessionIds: fc.array(count, { maxLength: 4 }),
      }),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constant("expire-sessions" as const),
    sessions: fc.array(fc.record({ namespace, sessionId: count }), { maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("cancel-acquisition" as const),
    subject: text,
    requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    attempt: origin,
  }),
);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    principal: fc.record({ subject: text, apiKeyId: text }),
    request: fc.record({
      requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      payloadHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    }),
    operation: clientOperation,
  }),
  leaderOperation.map((operation) => ({ principal: null, request: null, operation })),
);

const KEY = Uint8Array.of(0x6b);
const REGION = { namespace: "ns", regionId: new Uint8Array(16).fill(0xee) };
const REGION_GOLDEN = `000000026e73 ${"ee".repeat(16)}`;
const LOCK = { namespace: "ns", rw: true, name: "l" } as const;
const CAS = { kind: "compare-and-swap", namespace: "ns", key: KEY, newValue: Uint8Array.of(1), ttlSeconds: 0 } as const;

function byClient(operation: ClientOperation): Command {
  return { principal: { subject: "u", apiKeyId: "k" }, request: requestOf(1, 2), operation };
}

function byLeader(operation: ClusterOperation): Command {
  return { principal: null, request: null, operation };
}

/** The bytes between the kind and the operation of every client command here: the caller and the request. */
const ASKED = `0000000175 000000016b 00000001${"00".repeat(12)} 00000002${"00".repeat(28)}`;

const NO_REVISION = "00 0000000000000000";

describe("commands", () => {
  it("come back as written, of every kind", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(command, (written) => {
        kinds.add(written.operation.kind);
        expect(decodeCommand(encodeCommand(written))).to.deep.equal(written);
      }),
      { numRuns: 500 },
    );
    expect(kinds.size).to.equal(33);
  });

  // These bytes are in the logs of every member: a change here changes the storage format.
  for (const [name, written, golden] of [
    ["create-namespace", byClient({ kind: "create-namespace", namespace: "ns" }), `0101 ${ASKED} 000000026e73`],
    [
      "delete-namespace",
      byClient({ kind: "delete-namespace", namespace: "ns", recursive: true }),
      `015a ${ASKED} 000000026e73 01`,
    ],
    ["erase-namespaces", byLeader({ kind: "erase-namespaces", rowsMax: 512 }), "015b 00000200"],
    [
      "put-key",
      byClient({
        kind: "put-key",
        namespace: "ns",
        key: KEY,
        value: Uint8Array.of(7, 8),
        ttlSeconds: 9,
        expectedModRevision: 0x1_0000_0003,
        returnPrevious: true,
      }),
      `0102 ${ASKED} 000000026e73 000000016b 000000020708 0000000000000009 01 0000000100000003 01 00`,
    ],
    [
      "put-key into a session",
      byClient({
        kind: "put-key",
        namespace: "ns",
        key: KEY,
        value: Uint8Array.of(7, 8),
        ttlSeconds: 9,
        expectedModRevision: undefined,
        returnPrevious: true,
        sessionId: 6,
      }),
      `0102 ${ASKED} 000000026e73 000000016b 000000020708 8000000000000009 0000000000000006 ${NO_REVISION} 01 00`,
    ],
    [
      "compare-and-swap into a session",
      byClient({ ...CAS, expectedValue: undefined, expectedModRevision: undefined, sessionId: 6 }),
      `0104 ${ASKED} 000000026e73 000000016b 00 00000000 0000000101 ${NO_REVISION} 8000000000000000 0000000000000006 00`,
    ],
    [
      "delete-key",
      byClient({
        kind: "delete-key",
        namespace: "ns",
        key: KEY,
        expectedModRevision: undefined,
        returnPrevious: false,
      }),
      `0103 ${ASKED} 000000026e73 000000016b 00 0000000000000000 00 00`,
    ],
    [
      "compare-and-swap",
      byClient({ ...CAS, expectedValue: Uint8Array.of(5), expectedModRevision: 6, ttlSeconds: 7 }),
      `0104 ${ASKED} 000000026e73 000000016b 01 0000000105 0000000101 01 0000000000000006 0000000000000007 00`,
    ],
    [
      "touch-key",
      byClient({ kind: "touch-key", namespace: "ns", key: KEY, ttlSeconds: 7, expectedModRevision: 6 }),
      `010c ${ASKED} 000000026e73 000000016b 0000000000000007 01 0000000000000006 00`,
    ],
    [
      "expire-keys",
      byLeader({ kind: "expire-keys", keys: [{ namespace: "ns", key: KEY, modRevision: 4 }] }),
      "0105 00000001 000000026e73 000000016b 0000000000000004",
    ],
    [
      "put-key under a guard",
      byClient({
        kind: "put-key",
        namespace: "ns",
        key: KEY,
        value: Uint8Array.of(7),
        ttlSeconds: 0,
        expectedModRevision: undefined,
        returnPrevious: false,
        guard: { lockName: "l", fencingToken: 9, rw: true },
      }),
      `0102 ${ASKED} 000000026e73 000000016b 0000000107 0000000000000000 00 0000000000000000 00 ` +
        "01 000000016c 0000000000000009 01",
    ],
    [
      "create-lock",
      byClient({ kind: "create-lock", ...LOCK, ttlSeconds: 30, lockDelaySeconds: 5 }),
      `0114 ${ASKED} 000000026e73 01 000000016c 000000000000001e 0000000000000005`,
    ],
    [
      "acquire-lock",
      byClient({
        kind: "acquire-lock",
        namespace: "ns",
        name: "l",
        mode: "write",
        ttlSeconds: 30,
        owner: "o",
        waitMs: 7,
        fencingToken: 8,
      }),
      `0115 ${ASKED} 000000026e73 000000016c 02 000000000000001e 000000016f 0000000000000007 0000000000000008`,
    ],
    [
      "acquire-lock of a semaphore",
      byClient({
        kind: "acquire-lock",
        namespace: "ns",
        name: "l",
        mode: "permits",
        permits: 6,
        ttlSeconds: 30,
        owner: "o",
        waitMs: 7,
        fencingToken: 0,
      }),
      `0115 ${ASKED} 000000026e73 000000016c 13 0000000000000006 000000000000001e 000000016f 0000000000000007 ` +
        "0000000000000000",
    ],
    [
      "acquire-lock with a value",
      byClient({
        kind: "acquire-lock",
        namespace: "ns",
        name: "l",
        mode: "exclusive",
        value: Uint8Array.of(5),
        ttlSeconds: 30,
        owner: "o",
        waitMs: 7,
        fencingToken: 0,
      }),
      `0115 ${ASKED} 000000026e73 000000016c 20 0000000105 000000000000001e 000000016f 0000000000000007 0000000000000000`,
    ],
    [
      "create-semaphore",
      byClient({ kind: "create-semaphore", namespace: "ns", name: "l", permits: 6, ttlSeconds: 30 }),
      `0152 ${ASKED} 000000026e73 000000016c 0000000000000006 000000000000001e`,
    ],
    [
      "update-semaphore",
      byClient({ kind: "update-semaphore", namespace: "ns", name: "l", permits: 6 }),
      `0153 ${ASKED} 000000026e73 000000016c 0000000000000006`,
    ],
    [
      "set-lock-value",
      byClient({
        kind: "set-lock-value",
        namespace: "ns",
        name: "l",
        fencingToken: 8,
        owner: "o",
        value: Uint8Array.of(5),
      }),
      `0154 ${ASKED} 000000026e73 000000016c 0000000000000008 000000016f 0000000105`,
    ],
    [
      "release-lock",
      byClient({ kind: "release-lock", ...LOCK, mode: "read", owner: "o", fencingToken: 8 }),
      `0116 ${ASKED} 000000026e73 01 000000016c 01 01 000000016f 0000000000000008`,
    ],
    [
      "force-release-lock",
      byClient({ kind: "force-release-lock", ...LOCK, fencingToken: 8, reason: "r" }),
      `0117 ${ASKED} 000000026e73 01 000000016c 0000000000000008 0000000172`,
    ],
    [
      "delete-lock",
      byClient({ kind: "delete-lock", ...LOCK, force: true }),
      `0151 ${ASKED} 000000026e73 01 000000016c 01 00`,
    ],
    [
      "delete-lock of a semaphore",
      byClient({ kind: "delete-lock", ...LOCK, rw: false, force: true, semaphore: true }),
      `0151 ${ASKED} 000000026e73 00 000000016c 01 01 01`,
    ],
    [
      "create-session",
      byClient({
        kind: "create-session",
        namespace: "ns",
        ttlSeconds: 9,
        owner: "o",
        metadata: Uint8Array.of(7),
      }),
      `0164 ${ASKED} 000000026e73 0000000000000009 000000016f 0000000107`,
    ],
    [
      "end-session",
      byClient({ kind: "end-session", namespace: "ns", sessionId: 8, force: true }),
      `0166 ${ASKED} 000000026e73 0000000000000008 01`,
    ],
    [
      "renew-sessions",
      byLeader({
        kind: "renew-sessions",
        renewals: [{ principal: { subject: "u", apiKeyId: "k" }, namespace: "ns", sessionIds: [8, 9] }],
      }),
      "0165 00000001 0000000175 000000016b 000000026e73 00000002 0000000000000008 0000000000000009",
    ],
    [
      "expire-sessions",
      byLeader({ kind: "expire-sessions", sessions: [{ namespace: "ns", sessionId: 8 }] }),
      "0167 00000001 000000026e73 0000000000000008",
    ],
    [
      "expire-locks",
      byLeader({
        kind: "expire-locks",
        timers: [
          { about: "hold", lock: LOCK, number: 8 },
          { about: "wait", lock: { ...LOCK, rw: false }, number: 9 },
          { about: "delay", lock: LOCK, number: 0 },
        ],
      }),
      "0118 00000003 00 000000026e73 01 000000016c 0000000000000008 " +
        "01 000000026e73 00 000000016c 0000000000000009 02 000000026e73 01 000000016c 0000000000000000",
    ],
    [
      "cancel-acquisition",
      byLeader({
        kind: "cancel-acquisition",
        subject: "u",
        requestId: new Uint8Array(16).fill(0xee),
        attempt: { memberId: 1, boot: 2, seq: 3 },
      }),
      `0119 0000000175 ${"ee".repeat(16)} 0000000000000001 0000000000000002 0000000000000003`,
    ],
    ["tick", byLeader({ kind: "tick" }), "0106"],
    ["drop-replays", byLeader({ kind: "drop-replays" }), "0107"],
    [
      "allocate-memory",
      byClient({ kind: "allocate-memory", namespace: "ns", sizeBytes: 0x1_0000_0003, label: "l" }),
      `011e ${ASKED} 000000026e73 0000000100000003 000000016c`,
    ],
    [
      "resize-memory",
      byClient({ kind: "resize-memory", ...REGION, expectedVersion: 4, sizeBytes: 5 }),
      `011f ${ASKED} ${REGION_GOLDEN} 01 0000000000000004 00 0000000000000005`,
    ],
    [
      "free-memory",
      byClient({
        kind: "free-memory",
        ...REGION,
        expectedVersion: undefined,
        guard: { lockName: "l", fencingToken: 6, rw: true },
      }),
      `0120 ${ASKED} ${REGION_GOLDEN} 00 0000000000000000 01 000000016c 0000000000000006 01`,
    ],
    [
      "write-memory",
      byClient({
        kind: "write-memory",
        ...REGION,
        expectedVersion: undefined,
        offset: 0x1_0000_0000,
        data: Uint8Array.of(7, 8),
      }),
      `0121 ${ASKED} ${REGION_GOLDEN} 00 0000000000000000 00 0000000100000000 000000020708`,
    ],
    ["erase-memory", byLeader({ kind: "erase-memory", rowsMax: 256 }), "0122 00000100"],
    ["trim-history", byLeader({ kind: "trim-history", countMax: 512 }), "0128 00000200"],
    [
      "check-digest",
      byLeader({ kind: "check-digest", index: 0x1_0000_0000, digest: 0xaabb_ccdd }),
      "010a 0000000100000000 aabbccdd",
    ],
    ["set-cluster-version", byLeader({ kind: "set-cluster-version", version: 4 }), "010b 00000004"],
    [
      "compact-history",
      byLeader({ kind: "compact-history", revision: 9, subject: "admin", request: null }),
      "0129 0000000000000009 0000000561646d696e 00",
    ],
    [
      "compact-history of a request",
      byLeader({
        kind: "compact-history",
        revision: 9,
        subject: "admin",
        request: { requestId: new Uint8Array(16).fill(0xaa), payloadHash: new Uint8Array(32).fill(0xbb) },
      }),
      `0129 0000000000000009 0000000561646d696e 01 ${"aa".repeat(16)} ${"bb".repeat(32)}`,
    ],
  ] as const) {
    it(`have these bytes: ${name}`, () => {
      expect(encodeCommand(written).toHex()).to.equal(golden.replaceAll(" ", ""));
    });
  }

  it("S14: distinguish an empty expectation, or 0, from none", () => {
    for (const expectedValue of [undefined, new Uint8Array(0)]) {
      for (const expectedModRevision of [undefined, 0]) {
        const { operation } = decodeCommand(encodeCommand(byClient({ ...CAS, expectedValue, expectedModRevision })));
        expect(operation).to.deep.equal({ ...CAS, expectedValue, expectedModRevision });
      }
    }
  });

  itNoticesDamage(command);

  it("have these bytes: an operation on a log, by HTTP without a request id and by gRPC with one", () => {
    const logId = new Uint8Array(16).fill(0xee);
    const byHttp = { principal: OWNER, request: null, operation: { kind: "delete-log", logId } } as const;
    const byGrpc = { ...byHttp, request: requestOf(1, 2) };
    const owner = "0000000a757365722d6f776e6572 00000000 0000000000000000";
    const identity = `00000001${"00".repeat(12)} 00000002${"00".repeat(28)}`;
    for (const [written, golden] of [
      [byHttp, `0134 ${owner} ${"ee".repeat(16)}`],
      [byGrpc, `0234 ${owner} ${identity} ${"ee".repeat(16)}`],
    ] as const) {
      expect(encodeCommand(written).toHex()).to.equal(golden.replaceAll(" ", ""));
      expect(decodeCommand(encodeCommand(written))).to.deep.equal(written);
    }
  });

  it("are refused if an absent field has a value", () => {
    const absent = byClient({ ...CAS, expectedValue: undefined, expectedModRevision: undefined });
    const present = byClient({ ...CAS, expectedValue: Uint8Array.of(5), expectedModRevision: 6 });
    for (const [flag, rule] of [
      ["01000000010500000001", "00000000010500000001"],
      ["010000000000000006", "000000000000000006"],
    ] as const) {
      const damaged = encodeCommand(present).toHex().replace(flag, rule);
      expect(damaged).not.to.equal(encodeCommand(present).toHex());
      expect(() => decodeCommand(Uint8Array.fromHex(damaged))).to.throw(InvariantViolation, "absent");
    }
    expect(decodeCommand(encodeCommand(absent))).to.deep.equal(absent);
  });

  it("of an unknown format or kind are refused", () => {
    const encoded = encodeCommand(byClient({ kind: "create-namespace", namespace: "ns" }));
    for (const format of [0, 2, 255]) {
      const other = encoded.slice();
      other[0] = format;
      expect(() => decodeCommand(other)).to.throw(InvariantViolation, "known format");
    }
    for (const kind of [0, 13, 19, 26, 255]) {
      const other = encoded.slice();
      other[1] = kind;
      expect(() => decodeCommand(other)).to.throw(InvariantViolation, "known kind");
    }
  });

  it("have ids of 16 and hashes of 32 bytes", () => {
    const operation = { kind: "create-namespace", namespace: "ns" } as const;
    for (const [idLength, hashLength] of [
      [15, 32],
      [17, 32],
      [16, 31],
      [16, 33],
    ] as const) {
      const request = { requestId: new Uint8Array(idLength), payloadHash: new Uint8Array(hashLength) };
      expect(() => encodeCommand({ principal: OWNER, request, operation })).to.throw(InvariantViolation);
    }
  });

  it("S13: are the same request by kind and fields alone, for any caller and any id", () => {
    const sha256 = (hashed: Uint8Array): Uint8Array => createHash("sha256").update(hashed).digest();
    const asked = fc.record({ subject: text, apiKeyId: text, id: fc.uint8Array({ minLength: 16, maxLength: 16 }) });
    const requestOf = ({ subject, apiKeyId, id }: { subject: string; apiKeyId: string; id: Uint8Array }) => {
      return { principal: { subject, apiKeyId }, request: { requestId: id } };
    };
    fc.assert(
      fc.property(asked, asked, clientOperation, clientOperation, (one, other, operation, another) => {
        const { payload, request } = encodeRequest({ ...requestOf(one), operation }, sha256);
        const { principal } = requestOf(one);
        expect(decodeCommand(payload)).to.deep.equal({ principal, request, operation });
        expect(payload).to.deep.equal(encodeCommand({ principal, request, operation }));
        const again = encodeRequest({ ...requestOf(other), operation }, sha256).request?.payloadHash.toHex();
        expect(again).to.be.a("string").that.equals(request?.payloadHash.toHex());
        const different = encodeRequest({ ...requestOf(one), operation: another }, sha256);
        // Compare decoded forms, because the generator makes objects with and without a prototype.
        const [drawn, drawnToo] = [payload, different.payload].map((bytes) => decodeCommand(bytes).operation);
        const isSame = isDeepStrictEqual(drawn, drawnToo);
        expect(different.request?.payloadHash.toHex() === request?.payloadHash.toHex()).to.equal(isSame);
      }),
    );
  });

  it("S13: include the kind in the hash, because two kinds may have the same bytes as fields", () => {
    const hashed: string[] = [];
    const sha256 = (canonical: Uint8Array): Uint8Array => {
      hashed.push(canonical.toHex());
      return new Uint8Array(32);
    };
    const asked = { principal: OWNER, request: { requestId: new Uint8Array(16).fill(7) } };
    encodeRequest({ ...asked, operation: { kind: "create-namespace", namespace: "ns" } }, sha256);
    expect(hashed).to.deep.equal([`${"00".repeat(31)}01000000026e73`]);
  });

  it("fit into an entry at their largest", () => {
    expect(COMMAND_BYTES_MAX + ENTRY_HEADER_BYTES).to.equal(ENTRY_BYTES_MAX);
  });

  it("P45: are refused on a full disk if they may make the state larger, and not if they free space", () => {
    const growing = (operation: ClientOperation): boolean => isGrowing(byClient(operation));
    const change = { ...REGION, expectedVersion: undefined };
    expect(growing({ kind: "allocate-memory", namespace: "ns", sizeBytes: 1, label: "" })).to.equal(true);
    expect(growing({ kind: "write-memory", ...change, offset: 0, data: Uint8Array.of(1) })).to.equal(true);
    expect(growing({ kind: "resize-memory", ...change, sizeBytes: 1 }), "zeros are not stored").to.equal(false);
    expect(growing({ kind: "free-memory", ...change })).to.equal(false);
    const touch = { kind: "touch-key", namespace: "ns", key: KEY, ttlSeconds: 1, expectedModRevision: 1 } as const;
    expect(growing(touch), "the row is as long as before").to.equal(false);
    expect(isGrowing(byLeader({ kind: "erase-memory", rowsMax: 1 }))).to.equal(false);
  });
});
