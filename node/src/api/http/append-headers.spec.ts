import { expect } from "chai";
import { batchKeyOf, expectedSequenceOf, idempotencyKeyOf, lockGuardOf } from "./append-headers.ts";
import { HttpError } from "./http-error.ts";

function refusalOf(action: () => unknown): HttpError {
  try {
    action();
  } catch (error) {
    if (error instanceof HttpError) {
      return error;
    }
    throw error;
  }
  throw new Error("was not refused");
}

describe("Expected-Sequence", () => {
  for (const [value, sequence] of [
    ["0", 0n],
    ["42", 42n],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["9223372036854775807", 2n ** 63n - 1n],
  ] as const) {
    it(`S9: is exactly ${value}`, () => {
      expect(expectedSequenceOf([value])).to.equal(sequence);
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
    it(`is refused by name: ${JSON.stringify(value)}`, () => {
      const refusal = refusalOf(() => expectedSequenceOf([value]));
      expect([refusal.status, refusal.code]).to.deep.equal([400, "invalid_header"]);
      expect(refusal.message).to.include("Expected-Sequence");
    });
  }

  it("may be absent, and must not come twice", () => {
    expect(expectedSequenceOf(undefined)).to.equal(undefined);
    expect(expectedSequenceOf([])).to.equal(undefined);
    expect(refusalOf(() => expectedSequenceOf(["1", "1"])).code).to.equal("invalid_header");
  });
});

describe("Idempotency-Key", () => {
  it("is 1 to 255 visible ASCII characters, as they are", () => {
    const all = Array.from({ length: 0x7e - 0x21 + 1 }, (_, at) => String.fromCharCode(0x21 + at)).join("");
    for (const key of ["k", "a,b;c=d", all, "__proto__", "x".repeat(255)]) {
      expect(idempotencyKeyOf([key])).to.equal(key);
    }
    expect(idempotencyKeyOf(undefined)).to.equal(null);
  });

  for (const key of ["", " ", "a b", "a\tb", "é", "\x7f", "x".repeat(256)]) {
    it(`is refused by name: ${JSON.stringify(key.slice(0, 20))}`, () => {
      const refusal = refusalOf(() => idempotencyKeyOf([key]));
      expect(refusal.code).to.equal("invalid_header");
      expect(refusal.message).to.include("Idempotency-Key");
    });
  }

  it("is required for a batch, where it has at most 240", () => {
    expect(batchKeyOf(["x".repeat(240)])).to.equal("x".repeat(240));
    expect(refusalOf(() => batchKeyOf(["x".repeat(241)])).code).to.equal("invalid_header");
    expect(refusalOf(() => batchKeyOf([])).code).to.equal("missing_header");
    expect(refusalOf(() => batchKeyOf([""])).code).to.equal("invalid_header");
    for (const keyOf of [batchKeyOf, idempotencyKeyOf]) {
      expect(refusalOf(() => keyOf(["a", "b"])).code).to.equal("invalid_header");
    }
  });
});

describe("Lock-Guard", () => {
  for (const [value, guard] of [
    ["default/l;token=7", { namespace: "default", lockName: "l", fencingToken: 7, rw: false }],
    ["ns/a%2Fb%3B%20%C3%A9;token=9007199254740991;rw", rw("ns", "a/b; é", Number.MAX_SAFE_INTEGER)],
    ["ns/__proto__;token=1;rw", rw("ns", "__proto__", 1)],
  ] as const) {
    it(`is read: ${value}`, () => {
      expect(lockGuardOf([value])).to.deep.equal(guard);
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
    it(`is refused by name: ${JSON.stringify(value.slice(0, 40))}`, () => {
      const refusal = refusalOf(() => lockGuardOf([value]));
      expect([refusal.status, refusal.code]).to.deep.equal([400, "invalid_header"]);
      expect(refusal.message).to.include("Lock-Guard");
    });
  }

  it("may be absent, and must not come twice", () => {
    expect(lockGuardOf(undefined)).to.equal(undefined);
    expect(refusalOf(() => lockGuardOf(["default/l;token=1", "default/l;token=1"])).code).to.equal("invalid_header");
  });
});

function rw(namespace: string, lockName: string, fencingToken: number) {
  return { namespace, lockName, fencingToken, rw: true };
}
