import { expect } from "chai";
import fc from "fast-check";
import { OWNER, requestOf } from "../../test/index.ts";
import { ENTRY_BYTES_MAX, ENTRY_HEADER_BYTES, InvariantViolation } from "../raft/index.ts";
import {
  type ClientOperation,
  type ClusterOperation,
  COMMAND_BYTES_MAX,
  type Command,
  decodeCommand,
  encodeCommand,
} from "./command.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());
const namespace = fc.oneof(text, fc.constantFrom("default", "__proto__", "constructor"));
const bytes = fc.uint8Array({ maxLength: 30 });
const count = fc.maxSafeNat();
const revision = fc.option(fc.oneof(fc.constant(0), count), { nil: undefined });

const clientOperation: fc.Arbitrary<ClientOperation> = fc.oneof(
  fc.record({ kind: fc.constant("create-namespace" as const), namespace }),
  fc.record({
    kind: fc.constant("put-key" as const),
    namespace,
    key: bytes,
    value: bytes,
    ttlSeconds: count,
    expectedModRevision: revision,
    returnPrevious: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("delete-key" as const),
    namespace,
    key: bytes,
    expectedModRevision: revision,
    returnPrevious: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("compare-and-swap" as const),
    namespace,
    key: bytes,
    expectedValue: fc.option(bytes, { nil: undefined }),
    newValue: bytes,
    expectedModRevision: revision,
    ttlSeconds: count,
  }),
);
const leaderOperation: fc.Arbitrary<ClusterOperation> = fc.oneof(
  fc.record({
    kind: fc.constant("expire-keys" as const),
    keys: fc.array(fc.record({ namespace, key: bytes, modRevision: count }), { maxLength: 4 }),
  }),
  fc.constant({ kind: "tick" as const }),
  fc.record({
    kind: fc.constantFrom("prune-replays" as const, "trim-history" as const),
    countMax: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
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
const CAS = { kind: "compare-and-swap", namespace: "ns", key: KEY, newValue: Uint8Array.of(1), ttlSeconds: 0 } as const;

function byClient(operation: ClientOperation): Command {
  return { principal: { subject: "u", apiKeyId: "k" }, request: requestOf(1, 2), operation };
}

function byLeader(operation: ClusterOperation): Command {
  return { principal: null, request: null, operation };
}

/** What every client's command of these begins with, between its kind and its operation: who asks, and which request. */
const ASKED = `0000000175 000000016b 00000001${"00".repeat(12)} 00000002${"00".repeat(28)}`;

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
    expect(kinds.size).to.equal(8);
  });

  // What is in the logs of every member: a change here is a change of the storage format.
  for (const [name, written, golden] of [
    ["create-namespace", byClient({ kind: "create-namespace", namespace: "ns" }), `0101 ${ASKED} 000000026e73`],
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
      `0102 ${ASKED} 000000026e73 000000016b 000000020708 0000000000000009 01 0000000100000003 01`,
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
      `0103 ${ASKED} 000000026e73 000000016b 00 0000000000000000 00`,
    ],
    [
      "compare-and-swap",
      byClient({ ...CAS, expectedValue: Uint8Array.of(5), expectedModRevision: 6, ttlSeconds: 7 }),
      `0104 ${ASKED} 000000026e73 000000016b 01 0000000105 0000000101 01 0000000000000006 0000000000000007`,
    ],
    [
      "expire-keys",
      byLeader({ kind: "expire-keys", keys: [{ namespace: "ns", key: KEY, modRevision: 4 }] }),
      "0105 00000001 000000026e73 000000016b 0000000000000004",
    ],
    ["tick", byLeader({ kind: "tick" }), "0106"],
    ["prune-replays", byLeader({ kind: "prune-replays", countMax: 512 }), "0107 00000200"],
    ["trim-history", byLeader({ kind: "trim-history", countMax: 512 }), "0128 00000200"],
  ] as const) {
    it(`have these bytes: ${name}`, () => {
      expect(encodeCommand(written).toHex()).to.equal(golden.replaceAll(" ", ""));
    });
  }

  it("S14: tell an expectation that is empty, or 0, from none", () => {
    for (const expectedValue of [undefined, new Uint8Array(0)]) {
      for (const expectedModRevision of [undefined, 0]) {
        const { operation } = decodeCommand(encodeCommand(byClient({ ...CAS, expectedValue, expectedModRevision })));
        expect(operation).to.deep.equal({ ...CAS, expectedValue, expectedModRevision });
      }
    }
  });

  it("are refused after every truncation, and with a byte more", () => {
    fc.assert(
      fc.property(command, (written) => {
        const encoded = encodeCommand(written);
        for (let length = 0; length < encoded.length; length++) {
          expect(() => decodeCommand(encoded.subarray(0, length))).to.throw(InvariantViolation);
        }
        expect(() => decodeCommand(Uint8Array.of(...encoded, 0))).to.throw(InvariantViolation);
      }),
      { numRuns: 20 },
    );
  });

  it("with a changed byte are refused, or are another command with exactly these bytes", () => {
    fc.assert(
      fc.property(command, fc.nat(), fc.integer({ min: 1, max: 255 }), (written, at, change) => {
        const damaged = encodeCommand(written);
        damaged[at % damaged.length] = (damaged[at % damaged.length] as number) ^ change;
        let decoded: Command;
        try {
          decoded = decodeCommand(damaged);
        } catch (error) {
          expect(error).to.be.instanceOf(InvariantViolation);
          return;
        }
        expect(encodeCommand(decoded)).to.deep.equal(damaged);
      }),
      { numRuns: 2_000 },
    );
  });

  it("that hold something where nothing is given are refused", () => {
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
    for (const kind of [0, 10, 255]) {
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

  it("fit into an entry at their largest", () => {
    expect(COMMAND_BYTES_MAX + ENTRY_HEADER_BYTES).to.equal(ENTRY_BYTES_MAX);
  });
});
