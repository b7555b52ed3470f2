import { expect } from "chai";
import fc from "fast-check";
import { compareBytes, hashOf, isWithin } from "../../bytes/index.ts";
import { encodeText } from "./record.ts";
import {
  answerGenerationRow,
  answerRange,
  answerRow,
  apiKeyKey,
  apiKeyPrefixRow,
  apiKeyRow,
  CONFIGURATION_ROW,
  emailRow,
  expiryRow,
  HISTORY_BOUNDS_ROW,
  historyRow,
  keyRow,
  keyRowPrefixLength,
  lockHoldRow,
  lockRow,
  lockTimerRow,
  lockWaitRow,
  memoryErasureRow,
  memoryPageRow,
  memoryRegionRow,
  memorySegmentRow,
  namespaceKey,
  namespaceRow,
  namespaceUsageRow,
  PAGE_TOKEN_KEY_ROW,
  PROGRESS_ROW,
  prefixRange,
  QUOTA_COUNT_ROW,
  quotaRow,
  signingKeyRow,
  splitLockRow,
  tableRange,
  userKey,
  userRow,
} from "./rows.ts";

const KEY = Uint8Array.of(0xc3, 0xa9);
const ID = new Uint8Array(16).fill(0xee);

/** Few different bytes, so that one is often the prefix of another. */
const bytes = fc.array(fc.constantFrom(0x00, 0x61, 0xfe, 0xff), { maxLength: 6 }).map((list) => Uint8Array.from(list));

function startsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && prefix.every((byte, at) => byte === key[at]);
}

describe("keys of rows", () => {
  // These bytes are on the disk of every member: a change here changes the storage format.
  for (const [name, row, golden] of [
    ["the progress", PROGRESS_ROW, "61"],
    ["the configuration", CONFIGURATION_ROW, "63"],
    ["a key", keyRow("ns", KEY), "64 6e73 00 c3a9"],
    ["an e-mail address", emailRow("a@b"), "65 614062"],
    ["an API key", apiKeyRow("k1"), "6b 6b31"],
    ["a namespace", namespaceRow("ns"), "6e 6e73"],
    ["the page token key", PAGE_TOKEN_KEY_ROW, "70"],
    ["the public part of an API key", apiKeyPrefixRow("qk_1"), "71 716b5f31"],
    ["a stored answer", answerRow(0x1_0000_0002, "u1", ID), `72 0000000100000002 7531 00 ${"ee".repeat(16)}`],
    ["a signing key", signingKeyRow("s1"), "73 7331"],
    ["a generation of answers", answerGenerationRow(0x1_0000_0002), "47 0000000100000002"],
    ["a user", userRow("u1"), "75 7531"],
    ["a page of memory", memoryPageRow(0x1_0000_0002, 3), "76 0000000100000002 0000000000000003"],
    ["an erasure", memoryErasureRow(0x1_0000_0002, 3), "66 0000000100000002 0000000000000003"],
    ["a segment of memory", memorySegmentRow(0x1_0000_0002, 3), "67 0000000100000002 0000000000000003"],
    ["a memory region", memoryRegionRow("ns", ID), `6d 6e73 00 ${"ee".repeat(16)}`],
    ["the use of a namespace", namespaceUsageRow("ns"), "6f 6e73"],
    ["the limits of a namespace", quotaRow("ns"), "51 6e73"],
    ["the count of limits of single namespaces", QUOTA_COUNT_ROW, "51"],
    ["the changes of a revision", historyRow(0x1_0000_0002), "77 0000000100000002"],
    ["the bounds of the history", HISTORY_BOUNDS_ROW, "62"],
    ["a lock", lockRow("ns", true, "é"), "6c 6e73 00 01 c3a9"],
    ["a hold", lockHoldRow(1, 0x1_0000_0002), "68 0000000000000001 0000000100000002"],
    ["a wait", lockWaitRow(1, 2), "6a 0000000000000001 0000000000000002"],
    ["a timer of a lock", lockTimerRow(5, 2, 1, 7), "69 0000000000000005 02 0000000000000001 0000000000000007"],
    ["a deadline", expiryRow(5, "ns", KEY), "78 0000000000000005 6e73 00 c3a9"],
  ] as const) {
    it(`of ${name} have these bytes`, () => {
      expect(row.toHex()).to.equal(golden.replaceAll(" ", ""));
    });
  }

  it("S16: order as the UTF-8 bytes of the user's keys do: U+FFFF before U+1F600", () => {
    const keys = ["", "\0", "a", "a\0", "aa", "b", "é", "\uD7FF", "\uE000", "\uFFFF", "\u{10000}", "😀", "\u{10FFFF}"];
    const rows = keys.map((key) => keyRow("ns", encodeText(key)));
    const sorted = [...rows].reverse().sort(compareBytes);
    expect(sorted.map((row) => row.toHex())).to.deep.equal(rows.map((row) => row.toHex()));
  });

  it("S19: of different namespaces and keys differ, whatever their names and bytes", () => {
    const namespace = fc.constantFrom("a", "aa", "a-a", "a.a", "__proto__", "constructor", "toString");
    fc.assert(
      fc.property(namespace, bytes, namespace, bytes, (namespaceA, a, namespaceB, b) => {
        const same = namespaceA === namespaceB && compareBytes(a, b) === 0;
        expect(compareBytes(keyRow(namespaceA, a), keyRow(namespaceB, b)) === 0).to.equal(same);
        expect(compareBytes(expiryRow(1, namespaceA, a), expiryRow(1, namespaceB, b)) === 0).to.equal(same);
      }),
    );
  });

  it("of one namespace are adjacent, with no key of a namespace with a longer name among them", () => {
    const { from: first, to: end } = prefixRange(keyRow("a", new Uint8Array(0)));
    for (const other of ["aa", "a-", "a.b", "b"]) {
      for (const key of [new Uint8Array(0), Uint8Array.of(0), Uint8Array.of(0xff)]) {
        const row = keyRow(other, key);
        expect(isWithin(row, first, end), other).to.equal(false);
      }
    }
  });

  it("of regions of different namespaces are never equal", () => {
    const namespace = fc.constantFrom("a", "aa", "a-a", "a.a");
    const id = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(namespace, id, namespace, id, (namespaceA, a, namespaceB, b) => {
        const same = namespaceA === namespaceB && compareBytes(a, b) === 0;
        expect(compareBytes(memoryRegionRow(namespaceA, a), memoryRegionRow(namespaceB, b)) === 0).to.equal(same);
      }),
    );
  });

  it("S19: of locks differ by namespace, kind and name, and contain all three", () => {
    const namespace = fc.constantFrom("a", "aa", "a-a", "__proto__");
    const name = fc.oneof(fc.constantFrom("", "\0", "a", "\u0001a"), fc.string({ unit: "binary", maxLength: 4 }));
    const lock = fc.record({ namespace, rw: fc.boolean(), name: name.filter((text) => text.isWellFormed()) });
    fc.assert(
      fc.property(lock, lock, (a, b) => {
        const same = a.namespace === b.namespace && a.rw === b.rw && a.name === b.name;
        const row = lockRow(a.namespace, a.rw, a.name);
        expect(compareBytes(row, lockRow(b.namespace, b.rw, b.name)) === 0).to.equal(same);
        expect(splitLockRow(row)).to.deep.equal(a);
      }),
    );
  });

  it("have the user's key after a part of known length", () => {
    for (const namespace of ["a", "prod-eu", "x".repeat(63)]) {
      expect(keyRow(namespace, KEY).subarray(keyRowPrefixLength(namespace))).to.deep.equal(KEY);
    }
  });

  it("that begin with a number sort by it", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), bytes, bytes, (a, b, keyA, keyB) => {
        fc.pre(a !== b);
        expect(compareBytes(expiryRow(a, "z", keyA), expiryRow(b, "a", keyB)) < 0).to.equal(a < b);
        expect(compareBytes(answerRow(a, "z", ID), answerRow(b, "a", ID)) < 0).to.equal(a < b);
        expect(compareBytes(memoryPageRow(a, b), memoryPageRow(b, a)) < 0).to.equal(a < b);
      }),
    );
  });
});

describe("tables", () => {
  const rows = new Map([
    ["progress", PROGRESS_ROW],
    ["configuration", CONFIGURATION_ROW],
    ["pageTokenKey", PAGE_TOKEN_KEY_ROW],
    ["historyBounds", HISTORY_BOUNDS_ROW],
    ["history", historyRow(Number.MAX_SAFE_INTEGER)],
    ["key", keyRow("ns", Uint8Array.of(0xff))],
    ["email", emailRow("a")],
    ["apiKey", apiKeyRow("a")],
    ["apiKeyPrefix", apiKeyPrefixRow("a")],
    ["namespace", namespaceRow("a")],
    ["replay", answerRow(Number.MAX_SAFE_INTEGER, "a", ID)],
    ["signingKey", signingKeyRow("a")],
    ["replayGeneration", answerGenerationRow(Number.MAX_SAFE_INTEGER)],
    ["user", userRow("a")],
    ["memoryPage", memoryPageRow(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
    ["memoryErasure", memoryErasureRow(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
    ["memorySegment", memorySegmentRow(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
    ["memoryRegion", memoryRegionRow("a", ID)],
    ["namespaceUsage", namespaceUsageRow("a")],
    ["quota", quotaRow("a")],
    ["lock", lockRow("a", true, "\uFFFF")],
    ["lockHold", lockHoldRow(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
    ["lockWait", lockWaitRow(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
    ["lockTimer", lockTimerRow(Number.MAX_SAFE_INTEGER, 2, 1, 1)],
    ["expiry", expiryRow(Number.MAX_SAFE_INTEGER, "a", Uint8Array.of(0xff))],
  ] as const);

  for (const table of rows.keys()) {
    it(`${table} contains its rows and no others`, () => {
      const { from, to } = tableRange(table);
      const within = [...rows].filter(([, row]) => isWithin(row, from, to));
      expect(within.map(([name]) => name)).to.deep.equal([table]);
    });
  }
});

describe("the range of some generations of answers", () => {
  it("contains their rows and no others", () => {
    const within = (first: number, last: number | null) => {
      const { from, to } = answerRange(first, last);
      return [0, 1, 2, 3, 4].filter((generation) => {
        const row = answerRow(generation, "\u{10ffff}", ID);
        return isWithin(row, from, to);
      });
    };
    expect(within(0, 0)).to.deep.equal([0]);
    expect(within(2, 3)).to.deep.equal([2, 3]);
    expect(within(1, null)).to.deep.equal([1, 2, 3, 4]);
    expect(compareBytes(answerRange(1, null).to, tableRange("replay").to)).to.equal(0);
  });
});

describe("the keys of rows that nearly every request reads", () => {
  for (const [table, keyOf, rowOf] of [
    ["namespaces", namespaceKey, namespaceRow],
    ["users", userKey, userRow],
    ["API keys", apiKeyKey, apiKeyRow],
  ] as const) {
    it(`are those of the rows of ${table}, with their hashes, however often they are read`, () => {
      for (const text of ["a", "b", "a", "é", "", "a"]) {
        expect(keyOf(text)).to.deep.equal({ key: rowOf(text), hash: hashOf(rowOf(text)) });
      }
    });
  }

  it("are right for more keys than the cache keeps", () => {
    for (let number = 0; number < 10_002; number++) {
      userKey(`user-${number}`);
    }
    for (const text of ["user-0", "user-10001"]) {
      expect(userKey(text).key).to.deep.equal(userRow(text));
    }
  });
});

describe("the end of a prefix", () => {
  for (const [prefix, end] of [
    ["61", "62"],
    ["6161", "6162"],
    ["61ff", "62"],
    ["61ffff", "62"],
    ["ff61", "ff62"],
    ["feff", "ff"],
    ["00", "01"],
  ] as const) {
    it(`S16: of ${prefix} is ${end}`, () => {
      expect(prefixRange(Uint8Array.fromHex(prefix)).to.toHex()).to.equal(end);
    });
  }

  for (const prefix of ["", "ff", "ffffff"]) {
    it(`S16: of ${prefix || "nothing"} does not exist, which is a bug`, () => {
      expect(() => prefixRange(Uint8Array.fromHex(prefix))).to.throw("prefixes of rows begin with their table");
    });
  }

  it("S16: bounds exactly the keys with the prefix", () => {
    fc.assert(
      fc.property(bytes, bytes, (within, key) => {
        const prefix = Uint8Array.of(0x61, ...within);
        const row = Uint8Array.of(0x61, ...key);
        const { from, to } = prefixRange(prefix);
        expect(isWithin(row, from, to)).to.equal(startsWith(row, prefix));
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves the prefix as it was", () => {
    const prefix = Uint8Array.of(0x61);
    prefixRange(prefix);
    expect(prefix).to.deep.equal(Uint8Array.of(0x61));
  });
});
