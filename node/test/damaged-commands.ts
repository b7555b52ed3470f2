/** A requirement on every kind of command: its decoder notices changed bytes. */

import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../src/primitives/index.ts";
import { type Command, decodeCommand, encodeCommand } from "../src/state/index.ts";

/** Declares tests: after a change of their bytes, these commands are refused, or decode to other commands. */
export function itNoticesDamage(commands: fc.Arbitrary<Command>): void {
  it("are refused after every truncation, and with a byte more", () => {
    fc.assert(
      fc.property(commands, (written) => {
        const encoded = encodeCommand(written);
        for (let length = 0; length < encoded.length; length++) {
          expect(() => decodeCommand(encoded.subarray(0, length))).to.throw(InvariantViolation);
        }
        expect(() => decodeCommand(Uint8Array.of(...encoded, 0))).to.throw(InvariantViolation);
      }),
      { numRuns: 30 },
    );
  });

  it("with a changed byte are refused, or are another command with exactly these bytes", () => {
    fc.assert(
      fc.property(commands, fc.nat(), fc.integer({ min: 1, max: 255 }), (written, at, change) => {
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
}
