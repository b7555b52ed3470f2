import { expect } from "chai";
import fc from "fast-check";
import { DynamicTable } from "./dynamic-table.ts";

interface Entry {
  readonly name: string;
  readonly value: string;
}

/** A list, the newest entry first, with eviction by RFC 7541 §4.3 and §4.4. */
class Model {
  entries: Entry[] = [];
  bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.entries.reduce((bytes, { name, value }) => bytes + name.length + value.length + 32, 0);
  }

  add(entry: Entry): void {
    this.entries.unshift(entry);
    this.evict();
  }

  evict(): void {
    while (this.bytes > this.bytesMax) {
      this.entries.pop();
    }
  }
}

describe("a dynamic table", () => {
  it("has the same entries as a list with eviction, for any additions and sizes", () => {
    const text = fc.oneof(
      fc.constantFrom("a", "b", "name", "value"),
      fc.nat(150).map((length) => "x".repeat(length)),
    );
    const add = fc.record({ name: text, value: text });
    const resize = fc.oneof({ weight: 3, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.nat(3_000) });
    const step = fc.oneof({ weight: 8, arbitrary: add }, { weight: 1, arbitrary: resize });
    fc.assert(
      fc.property(fc.nat(2_000), fc.array(step, { maxLength: 120, size: "max" }), (bytesMax, steps) => {
        const table = new DynamicTable(bytesMax);
        const model = new Model(bytesMax);
        for (const each of steps) {
          if (typeof each === "number") {
            table.resize(each);
            model.bytesMax = each;
            model.evict();
          } else {
            table.add(each.name, each.value);
            model.add(each);
          }
          expect([table.length, table.bytes]).to.deep.equal([model.entries.length, model.bytes]);
          expect(table.bytesMax).to.equal(model.bytesMax);
        }
        const entries = model.entries.map((_, at) => ({ name: table.nameAt(at + 1), value: table.valueAt(at + 1) }));
        expect(entries).to.deep.equal(model.entries);
        for (const { name, value } of [...model.entries, { name: "a", value: "none" }, { name: "none", value: "a" }]) {
          const same = model.entries.findIndex((entry) => entry.name === name && entry.value === value);
          expect(table.indexOf(name, value)).to.equal(same + 1);
          expect(table.indexOfName(name)).to.equal(model.entries.findIndex((entry) => entry.name === name) + 1);
        }
      }),
    );
  });

  it("takes an entry as large as itself, and is emptied by a larger one", () => {
    const table = new DynamicTable(100);
    table.add("n", "v".repeat(67));
    expect([table.length, table.bytes]).to.deep.equal([1, 100]);
    table.add("n", "v".repeat(68));
    expect([table.length, table.bytes]).to.deep.equal([0, 0]);
  });
});
