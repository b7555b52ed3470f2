import { expect } from "chai";
import fc from "fast-check";
import {
  decodeForward,
  decodeForwarded,
  decodeForwardRefused,
  encodeForward,
  encodeForwarded,
  encodeForwardRefused,
} from "./forward-codec.ts";
import { FrameError } from "./frame.ts";

describe("forward codec", () => {
  const count = fc.maxSafeNat();
  const attempts = fc.array(
    fc.record({ seq: count, kind: count, row: fc.uint8Array({ maxLength: 40 }) }, { noNullPrototype: true }),
    { minLength: 1, maxLength: 6 },
  );
  const appended = fc.array(fc.record({ seq: count, index: count }, { noNullPrototype: true }), {
    minLength: 1,
    maxLength: 6,
  });
  const seqs = fc.array(count, { minLength: 1, maxLength: 6 });
  const reason = fc.string({ unit: "grapheme", maxLength: 20 });

  it("decodes encoded bodies", () => {
    fc.assert(
      fc.property(count, attempts, appended, seqs, reason, count, (term, tried, placed, refused, why, leader) => {
        const forward = { term, attempts: tried };
        expect(decodeForward(encodeForward(forward))).to.deep.equal(forward);
        const forwarded = { term, appended: placed };
        expect(decodeForwarded(encodeForwarded(forwarded))).to.deep.equal(forwarded);
        const refusal = { seqs: refused, reason: why, leader, term };
        expect(decodeForwardRefused(encodeForwardRefused(refusal))).to.deep.equal(refusal);
      }),
    );
  });

  const row = Uint8Array.of(0xaa, 0xbb);
  const bodies = [
    ["forward", encodeForward({ term: 3, attempts: [{ seq: 4, kind: 2, row }] }), decodeForward],
    ["forwarded", encodeForwarded({ term: 3, appended: [{ seq: 4, index: 5 }] }), decodeForwarded],
    ["refused", encodeForwardRefused({ seqs: [4, 5], reason: "not-leader", leader: 6, term: 7 }), decodeForwardRefused],
  ] as const;
  for (const [name, body, decode] of bodies) {
    it(`refuses each truncation, each longer body and an endless list of ${name}`, () => {
      for (let length = 0; length < body.length; length++) {
        expect(() => decode(body.subarray(0, length)), `${length}`).to.throw(FrameError);
      }
      expect(() => decode(Buffer.concat([body, Buffer.alloc(1)]))).to.throw(FrameError);
      const endless = Buffer.from(body);
      endless.writeUInt32BE(0xffff_ffff, name === "refused" ? 0 : 8);
      expect(() => decode(endless)).to.throw(FrameError);
    });

    it(`raises only FrameErrors for ${name}, with any bytes`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
          try {
            decode(bytes);
          } catch (error) {
            expect(error).to.be.instanceOf(FrameError);
          }
        }),
      );
    });
  }

  it("refuses empty lists, and invalid text", () => {
    expect(() => decodeForward(encodeForward({ term: 1, attempts: [] }))).to.throw(FrameError, "contains no attempt");
    expect(() => decodeForwarded(encodeForwarded({ term: 1, appended: [] }))).to.throw(
      FrameError,
      "contains no attempt",
    );
    const refused = encodeForwardRefused({ seqs: [1], reason: "x", leader: 0, term: 1 });
    expect(() => decodeForwardRefused(encodeForwardRefused({ seqs: [], reason: "", leader: 0, term: 1 }))).to.throw(
      FrameError,
      "contains no attempt",
    );
    refused[16] = 0xff;
    expect(() => decodeForwardRefused(refused)).to.throw(FrameError, "UTF-8");
  });

  it("knows the layout", () => {
    const number = (value: number) => value.toString(16).padStart(16, "0");
    const hex = bodies.map(([, body]) => Buffer.from(body).toString("hex"));
    expect(hex[0]).to.equal(`${number(3)}00000001${number(4)}${number(2)}00000002aabb`);
    expect(hex[1]).to.equal(`${number(3)}00000001${number(4)}${number(5)}`);
    expect(hex[2]).to.equal(
      `00000002${number(4)}${number(5)}0000000a${Buffer.from("not-leader").toString("hex")}${number(6)}${number(7)}`,
    );
  });
});
