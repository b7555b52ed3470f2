import { expect } from "chai";
import fc from "fast-check";
import { itNoticesDamage } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import {
  type ClientOperation,
  type ClusterOperation,
  COMMAND_BYTES_MAX,
  type Command,
  decodeCommand,
  encodeCommand,
  isGrowing,
} from "../index.ts";
import { type AppendEvents, BATCH_EVENTS_MAX } from "./log-commands.ts";
import { Payloads } from "./payloads.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const count = fc.maxSafeNat();
const logId = fc.uint8Array({ minLength: 16, maxLength: 16 });
const settings = fc.record({
  duplicateWindowSecs: nullable(count),
  retentionMaxAgeSecs: nullable(count),
  retentionMaxBytes: nullable(count),
});
const guard = fc.record({ lockName: text, fencingToken: count, rw: fc.boolean(), namespace: text });
const payload = fc.uint8Array({ maxLength: 20 });
const append: fc.Arbitrary<AppendEvents> = fc
  .tuple(
    fc.oneof(
      fc.record({
        payloads: payload.map((one) => Payloads.of([one])),
        isBatch: fc.constant(false),
        idempotencyKey: nullable(text),
      }),
      fc.record({
        payloads: fc.array(payload, { minLength: 1, maxLength: 5 }).map((several) => Payloads.of(several)),
        isBatch: fc.constant(true),
        idempotencyKey: text,
      }),
    ),
    fc.record({
      kind: fc.constant("append-events" as const),
      logId,
      expectedSequence: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { nil: undefined }),
    }),
    fc.option(guard, { nil: undefined }),
  )
  .map(([events, rest, under]) => ({ ...rest, ...events, ...(under === undefined ? {} : { guard: under }) }));
const operation: fc.Arbitrary<ClientOperation> = fc.oneof(
  fc.record({ kind: fc.constant("create-log" as const), name: text, namespace: text, settings }),
  fc.record({
    kind: fc.constant("update-log-settings" as const),
    logId,
    changes: fc.record(
      {
        duplicateWindowSecs: nullable(count),
        retentionMaxAgeSecs: nullable(count),
        retentionMaxBytes: nullable(count),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  }),
  fc.record({ kind: fc.constant("delete-log" as const), logId }),
  append,
);
const max = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const clusterOperation: fc.Arbitrary<ClusterOperation> = fc.oneof(
  fc.record({ kind: fc.constant("prune-duplicates" as const), countMax: max }),
  fc.record({ kind: fc.constantFrom("apply-retention" as const, "erase-logs" as const), rowsMax: max }),
);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: operation.map(asked) },
  { weight: 1, arbitrary: clusterOperation.map((by) => ({ principal: null, request: null, operation: by })) },
);

const PRINCIPAL = { subject: "u", apiKeyId: "k" };
const LOG_ID = new Uint8Array(16).fill(0xee);
const ID = "ee".repeat(16);
const ASKED = "0000000175 000000016b";
const NONE = "00 0000000000000000";
const APPEND: AppendEvents = {
  kind: "append-events",
  logId: LOG_ID,
  payloads: Payloads.of([Uint8Array.of(7)]),
  isBatch: false,
  idempotencyKey: null,
  expectedSequence: undefined,
};

function asked(one: ClientOperation): Command {
  return { principal: PRINCIPAL, request: null, operation: one };
}

describe("commands about event logs", () => {
  it("come back as written, of every kind", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(command, (written) => {
        kinds.add(written.operation.kind);
        expect(decodeCommand(encodeCommand(written))).to.deep.equal(written);
      }),
      { numRuns: 500 },
    );
    expect(kinds.size).to.equal(7);
  });

  for (const [name, written, golden] of [
    [
      "create-log",
      {
        kind: "create-log",
        name: "l",
        namespace: "ns",
        settings: { duplicateWindowSecs: 5, retentionMaxAgeSecs: null, retentionMaxBytes: 6 },
      },
      `0132 ${ASKED} 000000016c 000000026e73 01 0000000000000005 ${NONE} 01 0000000000000006`,
    ],
    [
      "update-log-settings",
      { kind: "update-log-settings", logId: LOG_ID, changes: { duplicateWindowSecs: null, retentionMaxBytes: 6 } },
      `0133 ${ASKED} ${ID} 01 ${NONE} 00 ${NONE} 01 01 0000000000000006`,
    ],
    ["delete-log", { kind: "delete-log", logId: LOG_ID }, `0134 ${ASKED} ${ID}`],
    [
      "append-events of one",
      APPEND,
      `0135 ${ASKED} ${ID} 00 00 00000000 00 0000000000000000 00 00000001 0000000101 0000000107`,
    ],
    [
      "append-events of a batch",
      {
        ...APPEND,
        payloads: Payloads.of([new Uint8Array(0), Uint8Array.of(7)]),
        isBatch: true,
        idempotencyKey: "b",
        expectedSequence: 2n ** 63n - 1n,
        guard: { namespace: "ns", lockName: "l", fencingToken: 9, rw: true },
      },
      `0135 ${ASKED} ${ID} 01 01 0000000162 01 7fffffffffffffff 01 000000016c 0000000000000009 01 000000026e73 ` +
        `00000002 000000020001 0000000107`,
    ],
  ] satisfies [string, ClientOperation, string][]) {
    it(`have these bytes: ${name}`, () => {
      expect(encodeCommand(asked(written)).toHex()).to.equal(golden.replaceAll(" ", ""));
    });
  }

  it("S9: keep every expected sequence exactly", () => {
    for (const expectedSequence of [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      const written = asked({ ...APPEND, expectedSequence });
      expect(decodeCommand(encodeCommand(written))).to.deep.equal(written);
    }
  });

  itNoticesDamage(command);

  it("have one event, or a batch of events with a key, or are refused", () => {
    const events = (count: number) => new Payloads(new Uint8Array(0), new Uint32Array(count + 1));
    const batch = { ...APPEND, isBatch: true, idempotencyKey: "b" };
    for (const wrong of [
      { ...APPEND, payloads: events(0) },
      { ...APPEND, payloads: events(2) },
      { ...batch, payloads: events(0) },
      { ...batch, payloads: events(BATCH_EVENTS_MAX + 1) },
      { ...batch, idempotencyKey: null },
    ]) {
      expect(() => decodeCommand(encodeCommand(asked(wrong)))).to.throw(InvariantViolation, "an append has its events");
    }
    const most = asked({ ...batch, payloads: events(BATCH_EVENTS_MAX) });
    expect(decodeCommand(encodeCommand(most))).to.deep.equal(most);
  });

  it("contain the largest possible batch: 10 MiB with its delimiters, and the longest key", () => {
    const payloadBytes = 10 * 1024 * 1024;
    const bytes = Math.floor(payloadBytes / BATCH_EVENTS_MAX);
    const offsets = Uint32Array.from({ length: BATCH_EVENTS_MAX + 1 }, (_, at) => at * bytes);
    const payloads = new Payloads(new Uint8Array(bytes * BATCH_EVENTS_MAX), offsets);
    const guarded = { namespace: "n".repeat(63), lockName: "l".repeat(256), fencingToken: 1, rw: true };
    const batch = { ...APPEND, payloads, isBatch: true, idempotencyKey: "k".repeat(240), guard: guarded };
    expect(encodeCommand(asked(batch)).length).to.be.lessThan(COMMAND_BYTES_MAX);
  });

  it("P45: are refused on a full disk if they make the state larger; deleting and limiting are not", () => {
    const limits = { duplicateWindowSecs: null, retentionMaxAgeSecs: 1, retentionMaxBytes: 1 };
    expect(isGrowing(asked(APPEND))).to.equal(true);
    expect(isGrowing(asked({ kind: "create-log", name: "l", namespace: "default", settings: limits }))).to.equal(true);
    expect(isGrowing(asked({ kind: "update-log-settings", logId: LOG_ID, changes: limits }))).to.equal(false);
    expect(isGrowing(asked({ kind: "delete-log", logId: LOG_ID }))).to.equal(false);
    for (const kind of ["apply-retention", "erase-logs"] as const) {
      expect(isGrowing({ principal: null, request: null, operation: { kind, rowsMax: 1 } })).to.equal(false);
    }
  });
});
