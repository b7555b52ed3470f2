import { expect } from "chai";
import { HttpError } from "../answers/index.ts";
import { type Parameter, ParameterProblem } from "../requests/index.ts";
import { batchHeaders, eventHeaders, requireBatchKeys } from "./append-headers.ts";

const expectedSequence = eventHeaders["Expected-Sequence"];
const lockGuard = eventHeaders["Lock-Guard"];
const eventKey = eventHeaders["Idempotency-Key"];
const batchKey = batchHeaders["Idempotency-Key"];

function read<Value>(parameter: Parameter<Value>, value: string): Value {
  return parameter.read(Buffer.from(value));
}

function isRefused(parameter: Parameter<unknown>, value: string | undefined, rule: RegExp): void {
  expect(() => parameter.read(value === undefined ? undefined : Buffer.from(value))).to.throw(ParameterProblem, rule);
}

describe("Expected-Sequence", () => {
  for (const [value, sequence] of [
    ["0", 0n],
    ["42", 42n],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["9223372036854775807", 2n ** 63n - 1n],
  ] as const) {
    it(`S9: is exactly ${value}`, () => {
      expect(read(expectedSequence, value)).to.equal(sequence);
    });
  }

  for (const value of [
    "",
    "-1",
    "+1",
    "1e3",
    "1.0",
    "0x1",
    "01",
    " 1",
    "1, 1",
    "9223372036854775808",
    "99999999999999999999",
    "NaN",
    "١",
  ]) {
    it(`is refused: ${JSON.stringify(value)}`, () => {
      isRefused(expectedSequence, value, /decimal number/);
    });
  }

  it("may be absent", () => {
    expect(expectedSequence.read(undefined)).to.equal(undefined);
    expect(expectedSequence.isRequired).to.equal(false);
  });
});

describe("Idempotency-Key", () => {
  it("is 1 to 1,024 bytes of UTF-8 without control characters, unchanged", () => {
    const all = Array.from({ length: 0x7e - 0x20 + 1 }, (_, at) => String.fromCharCode(0x20 + at)).join("");
    const words = ["order 7 of  today", "grüße", "鍵", "\u{1f511} ", "\ufeffk", "e\u0301", "\u00a0k"];
    for (const key of ["k", "a,b;c=d", `x${all}`, "__proto__", ...words.map((word) => `${word}x`)]) {
      expect(read(eventKey, key)).to.equal(key);
    }
    expect(eventKey.read(undefined)).to.equal(null);
  });

  it("is counted in bytes", () => {
    for (const key of ["x".repeat(1_024), "é".repeat(512), "\u{1f511}".repeat(256)]) {
      expect(read(eventKey, key)).to.equal(key);
      isRefused(eventKey, `${key}x`, /1 to 1024 bytes/);
    }
  });

  for (const key of ["", " ", "a\tb", "a\nb", "a\0b", "\x7f", "a\u0085b", "a\u009f"]) {
    it(`is refused: ${JSON.stringify(key.slice(0, 20))}`, () => {
      isRefused(eventKey, key, /1 to 1024 bytes of UTF-8 without control characters/);
    });
  }

  it("is refused if it is not text", () => {
    expect(() => eventKey.read(Buffer.from([0xff]))).to.throw(ParameterProblem, /UTF-8/);
  });

  it("is required for a batch, with at most 1,024 bytes including the position of the event", () => {
    expect(read(batchKey, "x".repeat(1_022))).to.equal("x".repeat(1_022));
    isRefused(batchKey, "x".repeat(1_023), /1 to 1022/);
    isRefused(batchKey, "", /1 to 1022/);
    for (const [bytes, count] of [
      [1_022, 1],
      [1_022, 10],
      [1_021, 11],
      [1_021, 100],
      [1_020, 101],
    ] as const) {
      requireBatchKeys("x".repeat(bytes), count);
    }
    expect(() => requireBatchKeys("x".repeat(1_022), 11)).to.throw(HttpError, /11 events must have at most 1021 bytes/);
    expect(() => requireBatchKeys("é".repeat(511), 11)).to.throw(HttpError, /Idempotency-Key/);
    isRefused(batchKey, undefined, /required/);
    expect([batchKey.isRequired, batchKey.missingCode]).to.deep.equal([true, "missing_header"]);
  });
});

describe("Lock-Guard", () => {
  for (const [value, guard] of [
    ["default/l;token=7", { namespace: "default", lockName: "l", fencingToken: 7, rw: false }],
    ["ns/a%2Fb%3B%20%C3%A9;token=9007199254740991;rw", rw("ns", "a/b; é", Number.MAX_SAFE_INTEGER)],
    ["ns/__proto__;token=1;rw", rw("ns", "__proto__", 1)],
  ] as const) {
    it(`is read: ${value}`, () => {
      expect(read(lockGuard, value)).to.deep.equal(guard);
    });
  }

  for (const value of [
    "",
    "default/l",
    "default/;token=1",
    "/l;token=1",
    "Default/l;token=1",
    "default/l;token=0",
    "default/l;token=-1",
    "default/l;token=1e3",
    "default/l;token=9007199254740992",
    "default/l;token=9223372036854775807",
    "default/l;token=1;ro",
    "default/l;rw;token=1",
    "default/a/b;token=1",
    "default/%;token=1",
    "default/%FF;token=1",
    `default/${"x".repeat(257)};token=1`,
    "default/l;token=1, default/l;token=1",
  ]) {
    it(`is refused: ${JSON.stringify(value.slice(0, 40))}`, () => {
      isRefused(lockGuard, value, /must have the form/);
    });
  }

  it("may be absent", () => {
    expect(lockGuard.read(undefined)).to.equal(undefined);
  });
});

function rw(namespace: string, lockName: string, fencingToken: number) {
  return { namespace, lockName, fencingToken, rw: true };
}
