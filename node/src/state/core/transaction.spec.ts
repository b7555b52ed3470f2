import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { MemoryStateStore } from "../../../test/index.ts";
import { compareBytes, hashOf, isWithin } from "../../bytes/index.ts";
import type { Row, StateReader } from "./store.ts";
import { type Digest, Transaction } from "./transaction.ts";

const digest: Digest = (previous, bytes) => crc32(bytes, previous);
const FIRST = new Uint8Array(0);
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff);

/** Few different keys, so that changes conflict; 0x00 and 0xff, because the order is unsigned. */
const key = fc
  .array(fc.constantFrom(0x00, 0x61, 0xff), { minLength: 1, maxLength: 3 })
  .map((list) => Uint8Array.from(list));
const value = fc.uint8Array({ maxLength: 3 });

function text({ key: rowKey, value: rowValue }: Row): string {
  return `${rowKey.toHex()}=${rowValue.toHex()}`;
}

function scan(reader: StateReader, from: Uint8Array, to: Uint8Array, countMax = Number.POSITIVE_INFINITY): string[] {
  const rows: string[] = [];
  reader.scan(from, to, (row) => {
    rows.push(text(row));
    return rows.length < countMax;
  });
  return rows;
}

describe("a transaction", () => {
  it("reads like a Map of the store and its own changes, after any operations", () => {
    const operation = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("put" as const), key, value }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete" as const), key }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("write" as const), key }) },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant("read" as const), key, to: key, count: fc.nat({ max: 9 }) }),
      },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const store = new MemoryStateStore();
        const transaction = new Transaction(store, digest, 0);
        const model = new Map<string, Row>();
        for (const each of operations) {
          const name = each.key.toHex();
          switch (each.kind) {
            case "put":
              transaction.put(each.key, each.value);
              model.set(name, { key: each.key, value: each.value });
              break;
            case "delete":
              transaction.delete(each.key);
              model.delete(name);
              break;
            case "write":
              store.write(transaction.take());
              break;
            case "read": {
              expect(transaction.get(each.key)).to.deep.equal(model.get(name)?.value);
              const rows = [...model.values()]
                .filter((row) => isWithin(row.key, each.key, each.to))
                .sort((a, b) => compareBytes(a.key, b.key))
                .map(text);
              expect(scan(transaction, each.key, each.to)).to.deep.equal(rows);
              expect(scan(transaction, each.key, each.to, each.count + 1)).to.deep.equal(rows.slice(0, each.count + 1));
              break;
            }
          }
        }
        const expected = [...model.values()].sort((a, b) => compareBytes(a.key, b.key)).map(text);
        expect(scan(transaction, FIRST, END)).to.deep.equal(expected);
        store.write(transaction.take());
        expect(scan(store, FIRST, END)).to.deep.equal(expected);
      }),
      { numRuns: 300 },
    );
  });

  it("writes nothing by itself", () => {
    const store = new MemoryStateStore();
    new Transaction(store, digest, 0).put(Uint8Array.of(1), Uint8Array.of(2));
    expect(scan(store, FIRST, END)).to.deep.equal([]);
  });

  it("returns each row's last change once, and is empty afterwards", () => {
    const transaction = new Transaction(new MemoryStateStore(), digest, 0);
    transaction.put(Uint8Array.of(1), Uint8Array.of(1));
    transaction.put(Uint8Array.of(2), Uint8Array.of(2));
    transaction.delete(Uint8Array.of(1));
    transaction.put(Uint8Array.of(2), Uint8Array.of(3));
    expect(transaction.take()).to.deep.equal([
      { key: Uint8Array.of(1), value: null, hash: hashOf(Uint8Array.of(1)) },
      { key: Uint8Array.of(2), value: Uint8Array.of(3), hash: hashOf(Uint8Array.of(2)) },
    ]);
    expect(transaction.take()).to.deep.equal([]);
  });

  it("keeps keys of any length apart", () => {
    const transaction = new Transaction(new MemoryStateStore(), digest, 0);
    const keys = [4_095, 4_096, 4_097, 9_000].map((length) => new Uint8Array(length).fill(0xfe));
    for (const [at, each] of keys.entries()) {
      transaction.put(each, Uint8Array.of(at));
    }
    expect(keys.map((each) => transaction.get(each)?.[0])).to.deep.equal([0, 1, 2, 3]);
  });

  it("S19: treats names of Object's properties like other keys", () => {
    const transaction = new Transaction(new MemoryStateStore(), digest, 0);
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"].map((name) => Buffer.from(name));
    expect(names.map((name) => transaction.get(name))).to.deep.equal(names.map(() => undefined));
    for (const name of names) {
      transaction.put(name, name);
    }
    expect(names.map((name) => transaction.get(name)?.length)).to.deep.equal(names.map((name) => name.length));
  });
});

describe("the digest of a transaction", () => {
  type Changes = readonly (readonly [string, string | null])[];

  function digestOf(changes: Changes, taken = false): number {
    const transaction = new Transaction(new MemoryStateStore(), digest, 7);
    for (const [changedKey, changedValue] of changes) {
      if (changedValue === null) {
        transaction.delete(Buffer.from(changedKey));
      } else {
        transaction.put(Buffer.from(changedKey), Buffer.from(changedValue));
      }
      if (taken) {
        transaction.take();
      }
    }
    return transaction.digest;
  }

  it("continues from its last value", () => {
    expect(digestOf([])).to.equal(7);
  });

  it("does not depend on where batches end", () => {
    const changes: Changes = [
      ["a", "1"],
      ["b", null],
      ["a", "2"],
    ];
    expect(digestOf(changes, true)).to.equal(digestOf(changes));
  });

  for (const [name, one, other] of [
    ["another value", [["a", "1"]], [["a", "2"]]],
    ["another key", [["a", "1"]], [["b", "1"]]],
    [
      "another order",
      [
        ["a", "1"],
        ["b", "2"],
      ],
      [
        ["b", "2"],
        ["a", "1"],
      ],
    ],
    ["a deletion for an empty value", [["a", null]], [["a", ""]]],
    [
      "a change that another change undoes",
      [
        ["a", "1"],
        ["a", null],
      ],
      [["a", null]],
    ],
    ["a byte that moved from the key to the value", [["ab", "c"]], [["a", "bc"]]],
    [
      "a key that moved to another change",
      [
        ["ab", null],
        ["c", null],
      ],
      [
        ["a", null],
        ["bc", null],
      ],
    ],
  ] as readonly (readonly [string, Changes, Changes])[]) {
    it(`P44: shows ${name}`, () => {
      expect(digestOf(one)).not.to.equal(digestOf(other));
    });
  }

  it("P42: is what it was before the savepoint, after a rollback", () => {
    const transaction = new Transaction(new MemoryStateStore(), digest, 7);
    transaction.put(Buffer.from("a"), Buffer.from("1"));
    const before = transaction.digest;
    transaction.setSavepoint();
    transaction.put(Buffer.from("a"), Buffer.from("2"));
    transaction.delete(Buffer.from("b"));
    transaction.rollBack(before);
    expect(transaction.digest).to.equal(before);
    expect(transaction.take().map(({ key, value }) => [key, value])).to.deep.equal([
      ["a", "1"].map((text) => Buffer.from(text)),
    ]);
  });

  it("covers noted bytes but not carried rows, which are still written", () => {
    const transaction = new Transaction(new MemoryStateStore(), digest, 7);
    transaction.carry(Buffer.from("a"), Buffer.from("1"));
    expect(transaction.digest).to.equal(7);
    expect(transaction.get(Buffer.from("a"))).to.deep.equal(Buffer.from("1"));
    transaction.note(Buffer.from("b"));
    expect(transaction.digest).to.equal(crc32(Buffer.from("b"), 7));
    const key = Buffer.from("a");
    expect(transaction.take()).to.deep.equal([{ key, value: Buffer.from("1"), hash: hashOf(key) }]);
  });

  it("has these values", () => {
    expect(digestOf([["a", "1"]])).to.equal(crc32(Buffer.from("\x01\x00\x00\x00\x01a1"), 7));
    expect(digestOf([["a", null]])).to.equal(crc32(Buffer.from("\x00\x00\x00\x00\x01a"), 7));
  });
});
