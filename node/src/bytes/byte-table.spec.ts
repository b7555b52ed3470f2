import { expect } from "chai";
import fc from "fast-check";
import { ByteTable, hashOf, type Keyed } from "./index.ts";

interface Numbered extends Keyed {
  readonly number: number;
}

/** Few keys, and fewer hashes: most keys share theirs with others. */
const keys = fc.integer({ min: 0, max: 300 }).map((number) => Buffer.from(`key-${number}`));
const poorHashOf = (key: Uint8Array): number => ((key.at(-1) ?? 0) % 5) - 2;
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("set"), key: keys }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete"), key: keys }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("take", "values"), key: keys }) },
  ),
  { maxLength: 500, size: "max" },
);

describe("a table by bytes", () => {
  for (const [named, hashIn] of [
    ["the hash of the process", hashOf],
    ["hashes that most keys share", poorHashOf],
  ] as const) {
    it(`does what a Map does, with ${named}`, () => {
      fc.assert(
        fc.property(steps, (all) => {
          const table = new ByteTable<Numbered>();
          const model = new Map<string, Numbered>();
          for (const [number, { kind, key }] of all.entries()) {
            const hash = hashIn(key);
            if (kind === "set") {
              table.set({ key, hash, number });
              model.set(String(key), { key, hash, number });
            } else if (kind === "delete") {
              table.delete(key, hash);
              model.delete(String(key));
            } else {
              expect(kind === "take" ? table.take() : table.values()).to.deep.equal([...model.values()]);
              if (kind === "take") {
                model.clear();
              }
            }
            expect(table.size).to.equal(model.size);
            expect(table.get(Buffer.from(key), hash)).to.deep.equal(model.get(String(key)));
          }
        }),
        { numRuns: 60 },
      );
    });
  }

  it("keeps what it has given away", () => {
    const table = new ByteTable<Numbered>();
    const key = Buffer.from("a");
    table.set({ key, hash: 1, number: 1 });
    const [values, taken] = [table.values(), table.take()];
    table.set({ key, hash: 1, number: 2 });
    expect([values, taken].map(([item]) => item?.number)).to.deep.equal([1, 1]);
  });
});
