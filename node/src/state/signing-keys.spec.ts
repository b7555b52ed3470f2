import { crc32 } from "node:zlib";
import { expect } from "chai";
import { AppliedLog, FOUNDING, MemoryStateStore } from "../../test/index.ts";
import { InvariantViolation } from "../raft/index.ts";
import { PAGE_TOKEN_KEY_ROW, signingKeyRow } from "./rows.ts";
import {
  readPageTokenKey,
  readSigningKey,
  readSigningKeys,
  type SigningKey,
  writePageTokenKey,
  writeSigningKey,
} from "./signing-keys.ts";
import { Transaction } from "./transaction.ts";

function keyOf(kid: string, createdAtMs: number): SigningKey {
  return { kid, publicKey: new Uint8Array(32).fill(1), privateKey: new Uint8Array(32).fill(2), createdAtMs };
}

function storeWith(write: (transaction: Transaction) => void): MemoryStateStore {
  const store = new MemoryStateStore();
  const transaction = new Transaction(store, (previous, bytes) => crc32(bytes, previous), 0);
  write(transaction);
  store.write(transaction.take());
  return store;
}

describe("signing keys", () => {
  it("come back as written, in these bytes", () => {
    const key = keyOf("k1", 0x1_0000_0002);
    const store = storeWith((transaction) => writeSigningKey(transaction, key));
    expect(readSigningKey(store, "k1")).to.deep.equal(key);
    expect(store.get(signingKeyRow("k1"))?.toHex()).to.equal(
      `000000026b31${"01".repeat(32)}${"02".repeat(32)}0000000100000002`,
    );
  });

  it("are found by their own id only", () => {
    const store = storeWith((transaction) => writeSigningKey(transaction, keyOf("k1", 1)));
    for (const kid of ["", "k", "k11", "K1", "__proto__", "constructor"]) {
      expect(readSigningKey(store, kid), kid).to.equal(undefined);
    }
  });

  it("are listed newest first, those of one instant by their id", () => {
    const store = storeWith((transaction) => {
      for (const [kid, createdAtMs] of [
        ["b", 5],
        ["a", 5],
        ["c", 9],
        ["d", 1],
      ] as const) {
        writeSigningKey(transaction, keyOf(kid, createdAtMs));
      }
    });
    expect(readSigningKeys(store).map(({ kid }) => kid)).to.deep.equal(["c", "a", "b", "d"]);
    expect(readSigningKeys(new MemoryStateStore())).to.deep.equal([]);
  });

  it("of another length than Ed25519's are not written", () => {
    const short = new Uint8Array(31);
    for (const key of [
      { ...keyOf("k1", 1), publicKey: short },
      { ...keyOf("k1", 1), privateKey: short },
    ]) {
      expect(() => storeWith((transaction) => writeSigningKey(transaction, key))).to.throw(InvariantViolation);
    }
  });

  it("begin with the founder's", () => {
    const [key, ...others] = readSigningKeys(new AppliedLog().store);
    expect(others).to.deep.equal([]);
    expect([key?.kid, key?.publicKey, key?.privateKey]).to.deep.equal([
      FOUNDING.signingKeyId,
      FOUNDING.signingPublicKey,
      FOUNDING.signingPrivateKey,
    ]);
  });
});

describe("the page token key", () => {
  it("is not there before the founding, and 32 bytes afterwards", () => {
    expect(readPageTokenKey(new MemoryStateStore())).to.equal(undefined);
    expect(readPageTokenKey(new AppliedLog().store)).to.deep.equal(FOUNDING.pageTokenKey);
  });

  it("is stored as it is, and of no other length", () => {
    const key = new Uint8Array(32).fill(7);
    const store = storeWith((transaction) => writePageTokenKey(transaction, key));
    expect(store.get(PAGE_TOKEN_KEY_ROW)).to.deep.equal(key);
    for (const length of [0, 31, 33]) {
      expect(() => storeWith((transaction) => writePageTokenKey(transaction, new Uint8Array(length)))).to.throw(
        InvariantViolation,
      );
    }
  });
});
