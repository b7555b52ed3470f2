import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../../primitives/index.ts";
import { RecordReader, RecordWriter } from "../core/index.ts";
import { Payloads } from "./payloads.ts";
import { PositionRuns } from "./position-runs.ts";

/** Short ones, and some whose length takes two or three bytes. */
const payload = fc.oneof(
  { weight: 9, arbitrary: fc.uint8Array({ maxLength: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom(127, 128, 16_383, 16_384).map((length) => new Uint8Array(length).fill(7)) },
);
const payloads = fc.array(payload, { maxLength: 12 });

function written(packed: Payloads): Uint8Array {
  const writer = new RecordWriter();
  packed.write(writer);
  return writer.finish();
}

function listed(packed: Payloads): string[] {
  return [...packed].map((one) => one.toHex());
}

describe("packed payloads", () => {
  it("are unchanged by packing, each with its length", () => {
    fc.assert(
      fc.property(payloads, (several) => {
        const packed = Payloads.of(several);
        expect(listed(packed)).to.deep.equal(several.map((one) => one.toHex()));
        expect(packed.count).to.equal(several.length);
        expect(packed.byteCount).to.equal(several.reduce((sum, { length }) => sum + length, 0));
        expect(several.map((_, at) => packed.lengthOf(at))).to.deep.equal(several.map(({ length }) => length));
      }),
    );
  });

  it("come back as written, also from the middle of a block", () => {
    fc.assert(
      fc.property(payloads, fc.nat(12), fc.nat(12), (several, from, count) => {
        const part = Payloads.of(several).slice(Math.min(from, several.length), Math.min(from + count, several.length));
        const reader = new RecordReader(written(part));
        expect(listed(Payloads.read(reader))).to.deep.equal(
          several.slice(from, from + count).map((one) => one.toHex()),
        );
        reader.end();
      }),
    );
  });

  it("are picked by runs of positions", () => {
    fc.assert(
      fc.property(payloads, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (several, isPicked) => {
        const wanted = several.map((_, at) => at).filter((at) => isPicked[at]);
        const numbers: number[] = [];
        for (const position of wanted) {
          if (position > 0 && isPicked[position - 1]) {
            numbers.push((numbers.pop() as number) + 1);
          } else {
            numbers.push(position, 1);
          }
        }
        const runs = new PositionRuns(Uint32Array.from(numbers));
        // Also from a block with other bytes before them.
        const packed = Payloads.of([Uint8Array.of(9, 9), ...several]).slice(1);
        const picked = packed.pick(runs);
        expect(listed(picked)).to.deep.equal(wanted.map((at) => several[at]?.toHex()));
        expect(picked.byteCount).to.equal(wanted.reduce((sum, at) => sum + (several[at]?.length ?? 0), 0));
      }),
    );
  });

  it("take one byte for each short payload in addition to its bytes", () => {
    const block = new Payloads(
      new Uint8Array(9_000),
      Uint32Array.from({ length: 1_001 }, (_, at) => at * 9),
    );
    expect(written(block).length).to.equal(4 + 4 + 1_000 + 4 + 9_000);
  });

  for (const [name, bytes] of [
    ["more payloads than lengths", "00000002 0000000101 0000000107"],
    ["fewer payloads than lengths", "00000001 000000020101 000000020707"],
    ["lengths of more bytes than there are", "00000001 0000000102 0000000107"],
    ["lengths of fewer bytes than there are", "00000001 0000000101 000000020707"],
    ["a length that does not end", "00000001 0000000181 0000000107"],
    ["a huge count", "ffffffff 0000000101 0000000107"],
  ] as const) {
    it(`are refused with ${name}`, () => {
      const reader = new RecordReader(Uint8Array.fromHex(bytes.replaceAll(" ", "")));
      expect(() => Payloads.read(reader)).to.throw(InvariantViolation, "payloads");
    });
  }
});
