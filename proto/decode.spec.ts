import { expect } from "chai";
import fc from "fast-check";
import { anyText } from "../testing/random/index.ts";
import {
  AcquireRWLockResponse,
  BootstrapRequest,
  CompareAndSwapRequest,
  decodeRequest,
  GetKeyRequest,
  ListKeysResponse,
  LockState,
  MalformedMessageError,
  type MessageCodec,
  PutKeyRequest,
  PutSettingsRequest,
  ReadConsistency,
  RWMode,
  TransactRequest,
  TransactResponse,
} from "./index.ts";

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Any text that UTF-8 can carry: without lone surrogates, with planes beyond the first. */
const text = anyText;
const bytes = () => fc.uint8Array({ maxLength: 64 });
const int64 = () => fc.bigInt({ min: -SAFE, max: SAFE });
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const guard = () =>
  optional(fc.record({ lockName: text(), fencingToken: int64(), rw: fc.boolean(), sessionId: optional(int64()) }));
const rwMode = () => fc.constantFrom(RWMode.RW_MODE_UNSPECIFIED, RWMode.READ, RWMode.WRITE);

function encode<Message>(codec: MessageCodec<Message>, message: Message): Uint8Array {
  return codec.encode(message).finish();
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"));
}

function toHex(encoded: Uint8Array): string {
  return Buffer.from(encoded).toString("hex");
}

/** Asserts that every message survives encoding and decoding. */
function assertRoundTrip<Message>(codec: MessageCodec<Message>, messages: fc.Arbitrary<Message>): void {
  fc.assert(
    fc.property(messages, (message) => {
      expect(decodeRequest(codec, encode(codec, message))).to.deep.equal(message);
    }),
  );
}

function refusal<Message>(
  codec: MessageCodec<Message>,
  encoded: Uint8Array,
  fieldsMax?: number,
): MalformedMessageError {
  try {
    decodeRequest(codec, encoded, fieldsMax);
  } catch (error) {
    if (error instanceof MalformedMessageError) {
      return error;
    }
    throw error;
  }
  throw new Error("the message was accepted");
}

/** A TransactRequest with so many transactions within each other, each two messages deep. */
function nestedTransactions(depth: number): Uint8Array {
  const [operation, nested, outermost] = [0x62, 0x12, 0x1a];
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let level = depth; level > 0; level--) {
    for (const tag of [operation, level === 1 ? outermost : nested]) {
      const prefix = Uint8Array.of(tag, ...varint(length));
      parts.push(prefix);
      length += prefix.length;
    }
  }
  return Buffer.concat(parts.toReversed());
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

describe("decodeRequest: round trips", () => {
  it("keeps every PutKeyRequest", () => {
    assertRoundTrip(
      PutKeyRequest,
      fc.record({
        namespace: text(),
        key: text(),
        value: bytes(),
        ttlSeconds: int64(),
        sessionId: int64(),
        expectedModRevision: optional(int64()),
        returnPrevious: fc.boolean(),
        guard: guard(),
      }),
    );
  });

  it("keeps every CompareAndSwapRequest, with absent apart from empty and zero expectations (S14)", () => {
    assertRoundTrip(
      CompareAndSwapRequest,
      fc.record({
        namespace: text(),
        key: text(),
        expectedValue: optional(bytes()),
        newValue: bytes(),
        expectedModRevision: optional(int64()),
        ttlSeconds: int64(),
        sessionId: int64(),
        guard: guard(),
      }),
    );
  });

  it("keeps every AcquireRWLockResponse, with repeated messages and enums", () => {
    assertRoundTrip(
      AcquireRWLockResponse,
      fc.record({
        acquired: fc.boolean(),
        fencingToken: int64(),
        mode: rwMode(),
        ttlSeconds: int64(),
        expiresInMs: int64(),
        holders: fc.array(
          fc.record({
            owner: text(),
            subject: text(),
            fencingToken: int64(),
            acquiredAtMs: int64(),
            expiresInMs: int64(),
            mode: rwMode(),
            permits: fc.integer(),
            value: bytes(),
            sessionId: int64(),
          }),
          { maxLength: 4 },
        ),
        queueLength: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
        state: fc.constantFrom(LockState.FREE, LockState.READ_HELD, LockState.WRITE_HELD, LockState.COOLDOWN),
        waitedMs: int64(),
        revision: int64(),
      }),
    );
  });

  it("keeps every PutSettingsRequest, in a Map (S19)", () => {
    const name = fc.oneof(text(), fc.constantFrom("__proto__", "constructor", "hasOwnProperty"));
    assertRoundTrip(
      PutSettingsRequest,
      fc.record({
        values: fc.array(fc.tuple(name, text()), { maxLength: 6 }).map((entries) => new Map(entries)),
        ifSettingsRevision: int64(),
      }),
    );
  });

  it("keeps __proto__ and constructor as namespace, key and setting (S19)", () => {
    const request = PutKeyRequest.create({ namespace: "__proto__", key: "constructor" });
    expect(decodeRequest(PutKeyRequest, encode(PutKeyRequest, request))).to.deep.equal(request);
    const settings = PutSettingsRequest.create({ values: new Map([["__proto__", "1"]]) });
    const decoded = decodeRequest(PutSettingsRequest, encode(PutSettingsRequest, settings));
    expect([...decoded.values]).to.deep.equal([["__proto__", "1"]]);
  });

  it("keeps keys at the edges of UTF-8: U+FFFF, U+1F600, U+0000, a leading byte order mark", () => {
    for (const key of ["\uffff", "\u{1f600}", "\u0000", "\ufeffkey", `\ufeff${"long".repeat(50)}`, "\u{10ffff}"]) {
      const encoded = encode(GetKeyRequest, GetKeyRequest.create({ key }));
      expect(decodeRequest(GetKeyRequest, encoded).key).to.equal(key);
    }
  });

  it("gives bytes as plain Uint8Arrays that view the input, also of a Buffer within a larger one", () => {
    const encoded = encode(PutKeyRequest, PutKeyRequest.create({ key: "k", value: Uint8Array.of(1, 2, 3) }));
    const pool = Buffer.concat([Buffer.from("before"), encoded, Buffer.from("after")]);
    const { value } = decodeRequest(PutKeyRequest, pool.subarray(6, 6 + encoded.length));
    expect(value).to.deep.equal(Uint8Array.of(1, 2, 3));
    expect(Buffer.isBuffer(value)).to.equal(false);
    expect(value.buffer).to.equal(pool.buffer);
  });
});

/** Written out by hand from the protobuf encoding: tag = number × 8 + wire type (0 varint, 2 length and bytes). */
describe("decodeRequest: golden bytes", () => {
  const ten = "ffffffffffffffffff01";

  it("reads and writes a PutKeyRequest with all its fields", () => {
    const message: PutKeyRequest = {
      namespace: "ns",
      key: "é",
      value: Uint8Array.of(0x00, 0xff),
      ttlSeconds: 300n,
      sessionId: 12n,
      expectedModRevision: 0n,
      returnPrevious: true,
      guard: { lockName: "l", fencingToken: 1n, rw: true, sessionId: undefined },
    };
    const hex =
      "0a02 6e73" + "1202 c3a9" + "1a02 00ff" + "20 ac02" + "28 00" + "30 01" + "3a07 0a01 6c 10 01 18 01" + "40 0c";
    expect(toHex(encode(PutKeyRequest, message))).to.equal(hex.replaceAll(" ", ""));
    expect(decodeRequest(PutKeyRequest, fromHex(hex))).to.deep.equal(message);
  });

  it("writes nothing for an empty message, and reads it as defaults", () => {
    expect(encode(PutKeyRequest, PutKeyRequest.create()).length).to.equal(0);
    expect(decodeRequest(PutKeyRequest, new Uint8Array(0))).to.deep.equal(PutKeyRequest.create());
  });

  it("distinguishes an empty expected value from an absent one (S14)", () => {
    const absent = CompareAndSwapRequest.create({ key: "k" });
    const empty = CompareAndSwapRequest.create({ key: "k", expectedValue: new Uint8Array(0) });
    expect(toHex(encode(CompareAndSwapRequest, absent))).to.equal("12016b");
    expect(toHex(encode(CompareAndSwapRequest, empty))).to.equal("12016b1a00");
    expect(decodeRequest(CompareAndSwapRequest, fromHex("12016b")).expectedValue).to.equal(undefined);
    expect(decodeRequest(CompareAndSwapRequest, fromHex("12016b1a00")).expectedValue).to.deep.equal(new Uint8Array(0));
  });

  it("distinguishes an expected revision of 0 from an absent one", () => {
    expect(decodeRequest(CompareAndSwapRequest, fromHex("12016b")).expectedModRevision).to.equal(undefined);
    expect(decodeRequest(CompareAndSwapRequest, fromHex("12016b2800")).expectedModRevision).to.equal(0n);
  });

  it("writes negative int64 in ten bytes", () => {
    const message = PutKeyRequest.create({ ttlSeconds: -1n });
    expect(toHex(encode(PutKeyRequest, message))).to.equal(`20${ten}`);
    expect(decodeRequest(PutKeyRequest, fromHex(`20${ten}`)).ttlSeconds).to.equal(-1n);
  });

  it("reads enums, and fields in any order; the last value of a field counts", () => {
    const decoded = decodeRequest(GetKeyRequest, fromHex("1801 12016b 0a0161 12016c"));
    expect(decoded).to.deep.equal({ namespace: "a", key: "l", consistency: ReadConsistency.SERIALIZABLE });
  });

  it("writes the entries of a map as messages of key and value", () => {
    const message = PutSettingsRequest.create({ values: new Map([["a", "1"]]), ifSettingsRevision: 2n });
    expect(toHex(encode(PutSettingsRequest, message))).to.equal("0a060a016112013110" + "02");
  });

  it("writes revision as field 15 of an answer, in a tag of one byte", () => {
    const message = ListKeysResponse.create({ items: [{ key: "k", version: 1n }], revision: 128n });
    expect(toHex(encode(ListKeysResponse, message))).to.equal("0a05" + "0a016b" + "2801" + "788001");
  });
});

describe("decodeRequest: refusals", () => {
  it("names the field of bad UTF-8 at the top, never turning it into U+FFFD", () => {
    for (const bad of ["ff", "c3", "c0af", "eda080", "f4908080", "61ff"]) {
      const length = (bad.length / 2).toString(16).padStart(2, "0");
      const error = refusal(GetKeyRequest, fromHex(`0a0161 12${length}${bad}`));
      expect(error).to.include({ problem: "utf8", field: "key", typeName: "coordination.v1.GetKeyRequest" });
      expect(error.message).to.equal("field key is not valid UTF-8");
    }
  });

  it("names the path of bad UTF-8 in a message within, a repeated field and a map", () => {
    expect(refusal(PutKeyRequest, fromHex("12016b 3a03 0a01ff"))).to.include({
      problem: "utf8",
      field: "guard.lock_name",
    });
    expect(refusal(ListKeysResponse, fromHex("0a03 0a0161 0a03 0a01ff"))).to.include({
      problem: "utf8",
      field: "items.key",
    });
    expect(refusal(PutSettingsRequest, fromHex("0a06 0a0161 1201ff"))).to.include({
      problem: "utf8",
      field: "values.value",
    });
  });

  it("finds bad UTF-8 at any position in a long string", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 }), (before, after) => {
        const key = Buffer.concat([Buffer.alloc(before, "a"), Buffer.of(0xff), Buffer.alloc(after, "a")]);
        const length = [0x12, (key.length & 0x7f) | 0x80, key.length >>> 7];
        expect(refusal(GetKeyRequest, Buffer.concat([Buffer.from(length), key]))).to.include({
          problem: "utf8",
          field: "key",
        });
      }),
    );
  });

  it("reads int64 up to ±(2^53 − 1) and refuses the next, naming the field (S17)", () => {
    for (const sign of [1n, -1n]) {
      const inside = PutKeyRequest.create({ ttlSeconds: sign * SAFE });
      expect(decodeRequest(PutKeyRequest, encode(PutKeyRequest, inside)).ttlSeconds).to.equal(sign * SAFE);
      for (const outside of [SAFE + 1n, SAFE + 2n, 2n ** 60n, 2n ** 63n - 1n]) {
        const error = refusal(
          PutKeyRequest,
          encode(PutKeyRequest, PutKeyRequest.create({ ttlSeconds: sign * outside })),
        );
        expect(error).to.include({ problem: "int64-range", field: "ttl_seconds" });
        expect(error.message).to.equal("field ttl_seconds is outside ±(2^53 - 1)");
      }
    }
    const smallest = PutKeyRequest.create({ ttlSeconds: -(2n ** 63n) });
    expect(refusal(PutKeyRequest, encode(PutKeyRequest, smallest)).problem).to.equal("int64-range");
  });

  it("reads the sum of an increment, which is no count, in the whole range of an int64", () => {
    for (const value of [2n ** 63n - 1n, -(2n ** 63n), SAFE + 1n]) {
      const response = TransactResponse.create({ results: [{ increment: { value } }] });
      const [result] = decodeRequest(TransactResponse, encode(TransactResponse, response)).results;
      expect(result?.increment?.value).to.equal(value);
    }
  });

  it("refuses int64 out of range in optional fields, messages within and repeated messages (S17)", () => {
    const tooLarge = SAFE + 1n;
    const optionalField = PutKeyRequest.create({ expectedModRevision: tooLarge });
    expect(refusal(PutKeyRequest, encode(PutKeyRequest, optionalField))).to.include({
      problem: "int64-range",
      field: "expected_mod_revision",
    });
    const messageWithin = PutKeyRequest.create({ guard: { fencingToken: -tooLarge } });
    expect(refusal(PutKeyRequest, encode(PutKeyRequest, messageWithin))).to.include({
      problem: "int64-range",
      field: "guard.fencing_token",
    });
    const repeatedMessage = ListKeysResponse.create({ items: [{}, { modRevision: tooLarge }] });
    expect(refusal(ListKeysResponse, encode(ListKeysResponse, repeatedMessage))).to.include({
      problem: "int64-range",
      field: "items.mod_revision",
    });
  });

  it("agrees with arithmetic on which int64 are in range", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const encoded = encode(PutKeyRequest, PutKeyRequest.create({ ttlSeconds: value }));
        if (value >= -SAFE && value <= SAFE) {
          expect(decodeRequest(PutKeyRequest, encoded).ttlSeconds).to.equal(value);
        } else {
          expect(refusal(PutKeyRequest, encoded).problem).to.equal("int64-range");
        }
      }),
      { examples: [[-SAFE], [-SAFE - 1n], [SAFE], [SAFE + 1n]] },
    );
  });

  it("refuses a message cut off at any byte, naming the field that is cut", () => {
    const message = PutKeyRequest.create({
      namespace: "namespace",
      key: "key",
      value: new Uint8Array(200),
      ttlSeconds: SAFE,
      sessionId: 12n,
      expectedModRevision: -1n,
      returnPrevious: true,
      guard: { lockName: "lock", fencingToken: 300n, rw: true, sessionId: undefined },
    });
    const whole = encode(PutKeyRequest, message);
    // A message that is cut off exactly between two fields is a complete message.
    const boundaries = new Set([0]);
    for (const part of [
      { namespace: message.namespace },
      { key: message.key },
      { value: message.value },
      { ttlSeconds: message.ttlSeconds },
      { expectedModRevision: message.expectedModRevision },
      { returnPrevious: true },
      { guard: message.guard },
    ]) {
      boundaries.add(Math.max(...boundaries) + encode(PutKeyRequest, PutKeyRequest.create(part)).length);
    }
    const names = new Set<string | undefined>();
    for (let length = 0; length < whole.length; length++) {
      if (boundaries.has(length)) {
        expect(() => decodeRequest(PutKeyRequest, whole.subarray(0, length))).not.to.throw();
      } else {
        const error = refusal(PutKeyRequest, whole.subarray(0, length));
        expect(error.problem).to.equal("wire");
        names.add(error.field);
      }
    }
    expect([...names]).to.deep.equal([
      "namespace",
      "key",
      "value",
      "ttl_seconds",
      "expected_mod_revision",
      "return_previous",
      "guard",
      "session_id",
    ]);
  });

  it("ignores unknown fields of every wire type, and known fields with another wire type", () => {
    const unknown = [
      "a00601", // field 100, varint
      "a1060102030405060708", // field 100, 64 bits
      "a20602ffff", // field 100, two bytes that are not UTF-8
      "a3060801ab060801ac06a406", // field 100, a group that contains a field and group 101
      "a50601020304", // field 100, 32 bits
      "1001", // field 2 (key, a string), varint
      "2201ff", // field 4 (ttl_seconds, a varint), one byte
    ];
    const expected = PutKeyRequest.create({ namespace: "a", key: "k" });
    for (const field of unknown) {
      for (const hex of [`${field}0a016112016b`, `0a0161${field}12016b`, `0a016112016b${field}`]) {
        expect(decodeRequest(PutKeyRequest, fromHex(hex)), hex).to.deep.equal(expected);
      }
      const withinGuard = `3a${(field.length / 2 + 3).toString(16).padStart(2, "0")}${field}0a016c`;
      expect(decodeRequest(PutKeyRequest, fromHex(withinGuard)).guard, field).to.include({ lockName: "l", rw: false });
    }
  });

  const malformed: readonly (readonly [string, string, string | undefined])[] = [
    ["a zero tag, at which the generated decoder would stop in silence", "0a0161 00 12016b", undefined],
    ["a zero tag at the end", "0a0161 00", undefined],
    ["field number 0 of another wire type", "0200", undefined],
    ["wire type 6", "0e00", undefined],
    ["wire type 7", "a706", undefined],
    ["the end of a group that was not opened", "a406", undefined],
    ["a group that does not end", "a306", undefined],
    ["a group that ends as another", "a306ac06", undefined],
    ["a group that ends in the parent message", "3a02a306 a406", "guard"],
    ["a tag of more than 32 bits", "8a8080801001", undefined],
    ["a length of more than 32 bits, which the generated decoder would cut", "0a 8180808010 61", "namespace"],
    ["a length beyond the end", "0a0561", "namespace"],
    ["a length of almost 4 GiB", "0affffffff0f", "namespace"],
    ["a field that runs over the end of the message that contains it", "3a03 0a0461 62 6364", "guard.lock_name"],
    ["a varint of eleven bytes", "20 8080808080808080808001", "ttl_seconds"],
    ["a varint of more than 64 bits", "20 ffffffffffffffffff02", "ttl_seconds"],
    ["a truth value that never ends", "30 ff", "return_previous"],
    ["an unknown varint that never ends", "a006 ff", undefined],
    ["an unknown fixed field that is cut off", "a106 00", undefined],
  ];
  for (const [title, hex, field] of malformed) {
    it(`refuses ${title}`, () => {
      const error = refusal(PutKeyRequest, fromHex(hex));
      expect(error.problem).to.equal("wire");
      expect(error.field).to.equal(field);
    });
  }

  it("refuses unknown groups deeper than 100", () => {
    const nested = (depth: number) => fromHex("a306".repeat(depth) + "a406".repeat(depth));
    expect(() => decodeRequest(PutKeyRequest, nested(100))).not.to.throw();
    expect(refusal(PutKeyRequest, nested(101)).problem).to.equal("wire");
    expect(refusal(PutKeyRequest, nested(100_000)).problem).to.equal("wire");
  });

  it("refuses more fields than it is told, known or not, at any depth, also if there is nothing in them", () => {
    const max = 20_000;
    const guards = Buffer.alloc(2 * max, Buffer.of(0x3a, 0));
    expect(decodeRequest(PutKeyRequest, guards, max).guard).to.deep.equal({
      lockName: "",
      fencingToken: 0n,
      rw: false,
      sessionId: undefined,
    });
    const unknown = Buffer.alloc(2 * (max + 1), Buffer.of(0x78, 0));
    // Field 7 with 20,000 fields that it does not know.
    const within = Buffer.concat([Buffer.of(0x3a, 0xc0, 0xb8, 0x02), unknown.subarray(2)]);
    const group = Buffer.concat([Buffer.of(0x7b), unknown.subarray(2), Buffer.of(0x7c)]);
    for (const encoded of [Buffer.concat([guards, guards.subarray(0, 2)]), unknown, within, group]) {
      const error = refusal(PutKeyRequest, encoded, max);
      expect(error.message).to.equal("the message has too many fields");
      expect([error.problem, error.field]).to.deep.equal(["fields", undefined]);
      decodeRequest(PutKeyRequest, encoded);
    }
  });

  it("refuses more than 32 messages within each other at once, however deep the others are", () => {
    expect(() => decodeRequest(TransactRequest, nestedTransactions(16))).not.to.throw();
    const { problem, field = "" } = refusal(TransactRequest, nestedTransactions(17));
    expect(problem).to.equal("depth");
    expect(field.split(".")).to.deep.equal([...Array(16).fill(["success", "transaction"]).flat(), "success"]);
    const deepest = nestedTransactions(450_000);
    expect(deepest.length).to.be.within(3_900_000, 4 * 1024 * 1024);
    expect(refusal(TransactRequest, deepest).problem).to.equal("depth");
  });

  it("turns random and damaged bytes into a message or a MalformedMessageError, never into another error", () => {
    const valid = encode(PutKeyRequest, PutKeyRequest.create({ namespace: "a", key: "é", guard: { lockName: "l" } }));
    const damaged = fc
      .tuple(fc.nat({ max: valid.length - 1 }), fc.nat({ max: 255 }))
      .map(([position, byte]) => valid.with(position, byte));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), damaged), (input) => {
        try {
          decodeRequest(PutKeyRequest, input);
        } catch (error) {
          expect(error).to.be.instanceOf(MalformedMessageError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("never repeats a value in the error, which may be a secret", () => {
    const request = BootstrapRequest.create({
      owner: { email: "a@b", password: "correct horse", apiKey: "qk_secret" },
    });
    const encoded = encode(BootstrapRequest, request);
    const error = refusal(BootstrapRequest, encoded.subarray(0, encoded.length - 1));
    expect(error.field).to.equal("owner");
    expect(`${error.stack} ${JSON.stringify(error)}`).not.to.match(/correct|qk_/);
  });

  it("throws a clear error when the codec is not of the contract", () => {
    const codec = { ...PutKeyRequest, $type: "coordination.v1.Nothing" };
    expect(() => decodeRequest(codec, new Uint8Array(0))).to.throw("coordination.v1.Nothing is not a message");
  });
});
