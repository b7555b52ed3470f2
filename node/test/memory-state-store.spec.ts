import { expect } from "chai";
import fc from "fast-check";
import { compareBytes, isWithin } from "../src/bytes/index.ts";

import { MemoryStateStore } from "./memory-state-store.ts";

const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff);

function rowsOf(store: MemoryStateStore, from: Uint8Array, to: Uint8Array): string[] {
  const rows: string[] = [];
  store.scan(from, to, ({ key, value }) => {
    rows.push(`${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`);
    return true;
  });
  return rows;
}

describe("MemoryStateStore", () => {
  it("holds what a map and a sort hold, after any batches", () => {
    const key = fc.uint8Array({ maxLength: 3 });
    const value = fc.option(fc.uint8Array({ maxLength: 2 }), { nil: null });
    const batches = fc.array(fc.array(fc.record({ key, value }), { maxLength: 8 }), { maxLength: 12 });
    fc.assert(
      fc.property(batches, key, key, (writes, from, to) => {
        const store = new MemoryStateStore();
        const model = new Map<string, { key: Uint8Array; value: Uint8Array }>();
        for (const batch of writes) {
          store.write(batch);
          for (const change of batch) {
            const name = Buffer.from(change.key).toString("hex");
            if (change.value === null) {
              model.delete(name);
            } else {
              model.set(name, { key: change.key, value: change.value });
            }
          }
        }
        const rows = [...model.values()].sort((a, b) => compareBytes(a.key, b.key));
        const within = rows.filter((row) => isWithin(row.key, from, to));
        const text = (row: { key: Uint8Array; value: Uint8Array }) =>
          `${Buffer.from(row.key).toString("hex")}=${Buffer.from(row.value).toString("hex")}`;
        expect(rowsOf(store, from, to)).to.deep.equal(within.map(text));
        expect(store.get(from)).to.deep.equal(model.get(Buffer.from(from).toString("hex"))?.value);
      }),
    );
  });

  it("stops a scan when the visitor has enough, and keeps its own copies", () => {
    const store = new MemoryStateStore();
    const key = Buffer.of(1);
    store.write([
      { key, value: Uint8Array.of(9) },
      { key: Uint8Array.of(2), value: Uint8Array.of(8) },
    ]);
    key[0] = 3;
    let visited = 0;
    store.scan(new Uint8Array(0), END, () => ++visited < 1);
    expect(visited).to.equal(1);
    expect(rowsOf(store, new Uint8Array(0), END)).to.deep.equal(["01=09", "02=08"]);
  });
});
