import { expect } from "chai";
import fc from "fast-check";
import { FrameError } from "./frame.ts";
import { decodeKeptTrace, encodeKeptTrace, type KeptTrace } from "./kept-trace-codec.ts";

const KEPT: KeptTrace = {
  part: "follow",
  index: 258,
  term: 3,
  state: "a=1",
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
};

describe("kept trace codec", () => {
  it("returns each trace, and refuses each truncation", () => {
    for (const kept of [KEPT, { ...KEPT, part: "lead", state: "x".repeat(512) } as const]) {
      const body = encodeKeptTrace(kept);
      expect(decodeKeptTrace(body)).to.deep.equal(kept);
      for (let length = 0; length < body.length; length++) {
        expect(() => decodeKeptTrace(body.subarray(0, length))).to.throw(FrameError);
      }
    }
  });

  it("knows the layout", () => {
    expect(encodeKeptTrace(KEPT).toHex()).to.equal(
      "0000000000000001" +
        "0000000000000102" +
        "0000000000000003" +
        "000000104bf92f3577b34da6a3ce929d0e0e4736" +
        "0000000800f067aa0ba902b7" +
        "00000003613d31",
    );
  });

  it("refuses ids and states that no member sends", () => {
    const bad: KeptTrace[] = [
      { ...KEPT, traceId: "0".repeat(32) },
      { ...KEPT, traceId: "ab" },
      { ...KEPT, spanId: "0".repeat(16) },
      { ...KEPT, state: "x".repeat(513) },
      { ...KEPT, state: "a=\n" },
    ];
    for (const kept of bad) {
      // The lengths of ids are fixed, so an encoder with another length fails by itself.
      const encode = () => decodeKeptTrace(encodeKeptTrace(kept));
      expect(encode).to.throw();
    }
  });

  it("survives any bytes", () => {
    const check = (body: Uint8Array): void => {
      try {
        decodeKeptTrace(body);
      } catch (error) {
        expect(error).to.be.instanceOf(FrameError);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 120 }), check));
    // A frame that is right but for a few bytes gets further.
    const whole = encodeKeptTrace(KEPT);
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 4 });
    const corrupt = (wrong: readonly (readonly [number, number])[]): Uint8Array => {
      const body = whole.slice();
      for (const [at, byte] of wrong) {
        body[at] = byte;
      }
      return body;
    };
    fc.assert(fc.property(changes, (wrong) => check(corrupt(wrong))));
  });
});
