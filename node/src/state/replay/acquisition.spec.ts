import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../../primitives/index.ts";
import { type Acquisition, decodeAcquisition, encodeAcquisition, isAcquisition, isSameAttempt } from "./acquisition.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());
const count = fc.maxSafeNat();
const acquisition: fc.Arbitrary<Acquisition> = fc.record({
  lock: fc.record({ namespace: text, rw: fc.boolean(), name: text }),
  status: fc.constantFrom("queued" as const, "granted" as const, "not-acquired" as const, "cancelled" as const),
  number: count,
  attempt: fc.record({ memberId: count, boot: count, seq: count }),
});
const ONE: Acquisition = {
  lock: { namespace: "ns", rw: true, name: "l" },
  status: "granted",
  number: 7,
  attempt: { memberId: 1, boot: 2, seq: 3 },
};

describe("stored acquisitions", () => {
  it("come back as written", () => {
    fc.assert(
      fc.property(acquisition, (written) => {
        const encoded = encodeAcquisition(written);
        expect(isAcquisition(encoded)).to.equal(true);
        expect(decodeAcquisition(encoded)).to.deep.equal(written);
      }),
    );
  });

  // These bytes are in the state of every member: a change here changes the storage format.
  it("have these bytes", () => {
    const golden =
      "17 000000026e73 01 000000016c 01 0000000000000007 0000000000000001 0000000000000002 0000000000000003";
    expect(encodeAcquisition(ONE).toHex()).to.equal(golden.replaceAll(" ", ""));
  });

  it("are refused after every truncation, with a byte more, and of an unknown kind or status", () => {
    const encoded = encodeAcquisition(ONE);
    for (let length = 0; length < encoded.length; length++) {
      expect(() => decodeAcquisition(encoded.subarray(0, length))).to.throw(InvariantViolation);
    }
    expect(() => decodeAcquisition(Uint8Array.of(...encoded, 0))).to.throw(InvariantViolation);
    expect(() => decodeAcquisition(Uint8Array.of(0, ...encoded.subarray(1)))).to.throw(InvariantViolation, "kind");
    const status = encoded.slice();
    status[13] = 4;
    expect(() => decodeAcquisition(status)).to.throw(InvariantViolation, "status");
  });

  it("belong to one attempt: member, boot and number", () => {
    const { attempt } = ONE;
    expect(isSameAttempt(attempt, { ...attempt })).to.equal(true);
    for (const other of [{ memberId: 9 }, { boot: 9 }, { seq: 9 }]) {
      expect(isSameAttempt(attempt, { ...attempt, ...other })).to.equal(false);
    }
  });
});
