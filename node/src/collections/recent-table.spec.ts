import { expect } from "chai";
import fc from "fast-check";
import { RecentTable } from "./recent-table.ts";

describe("a table of recent numbers", () => {
  it("has the same members as a Map, however far apart the numbers are", () => {
    const number = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
    const step = fc.record({ number, kind: fc.constantFrom("set", "set", "delete") });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const table = new RecentTable<string>(8);
        const model = new Map<number, string>();
        for (const [at, { number: key, kind }] of steps.entries()) {
          if (kind === "set") {
            table.set(key, `${at}`);
            model.set(key, `${at}`);
          } else {
            table.delete(key);
            model.delete(key);
          }
          expect(table.get(key)).to.equal(model.get(key));
          expect(table.size).to.equal(model.size);
        }
        const ascending = [...model].sort(([one], [other]) => one - other).map(([, member]) => member);
        expect(table.values()).to.deep.equal(ascending);
        for (const [key, member] of model) {
          expect(table.get(key)).to.equal(member);
        }
      }),
    );
  });

  it("keeps a member that stays while thousands come and go, and keeps no others", () => {
    const table = new RecentTable<number>();
    table.set(1, 1);
    for (let number = 2; number < 10_000; number++) {
      table.set(number, number);
      table.delete(number);
    }
    expect(table.get(1)).to.equal(1);
    expect(table.values()).to.deep.equal([1]);
  });
});
