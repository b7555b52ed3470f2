import { crc32 } from "node:zlib";
import { expect } from "chai";
import { AppliedLog, FOUNDING, MemoryStateStore, requestOf } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { DEFAULT_STATE_LIMITS, PAGE_TOKEN_KEY_ROW, signingKeyRow, Transaction } from "../core/index.ts";
import {
  endedSigningKeys,
  readPageTokenKey,
  readSigningKey,
  readSigningKeys,
  type SigningKey,
  writePageTokenKey,
  writeSigningKey,
} from "./signing-keys.ts";

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

  it("start with the founder's", () => {
    const [key, ...others] = readSigningKeys(new AppliedLog().store);
    expect(others).to.deep.equal([]);
    expect([key?.kid, key?.publicKey, key?.privateKey]).to.deep.equal([
      FOUNDING.signingKeyId,
      FOUNDING.signingPublicKey,
      FOUNDING.signingPrivateKey,
    ]);
  });
});

describe("rotating the signing key", () => {
  const HOUR_MS = 3_600_000;
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  function rotate(kid: string, ifKid = "") {
    const { publicKey, privateKey } = keyOf(kid, 0);
    const asked = { ifKid, subject: "admin", request: null };
    return log.lead({ kind: "rotate-signing-key", kid, publicKey, privateKey, ...asked })?.answer;
  }

  function kids(): string[] {
    return readSigningKeys(log.store).map(({ kid }) => kid);
  }

  it("puts the new key first, also within the same millisecond", () => {
    expect(rotate("z")).to.include({ kind: "rotate-signing-key", kid: "z" });
    expect(rotate("a")).to.include({ kid: "a" });
    log.wallMs += HOUR_MS;
    rotate("m");
    expect(kids()).to.deep.equal(["m", "a", "z", FOUNDING.signingKeyId]);
    expect(readSigningKey(log.store, "m")?.createdAtMs).to.equal(log.wallMs);
  });

  it("does nothing if the key to replace no longer signs", () => {
    expect(rotate("a", FOUNDING.signingKeyId)).to.include({ kid: "a" });
    expect(rotate("b", FOUNDING.signingKeyId)).to.include({ kid: "a" });
    expect(kids()).to.deep.equal(["a", FOUNDING.signingKeyId]);
  });

  it("keeps a key while a token of it may be valid, counted from its last signature, and then drops it", () => {
    log.wallMs += 30 * 24 * HOUR_MS;
    rotate("a");
    const drop = () => log.lead({ kind: "drop-signing-keys" });
    log.wallMs += 25 * HOUR_MS - 1;
    expect(endedSigningKeys(log.store, log.wallMs)).to.deep.equal([]);
    drop();
    expect(kids()).to.deep.equal(["a", FOUNDING.signingKeyId]);
    log.wallMs += 1;
    expect(endedSigningKeys(log.store, log.wallMs).map(({ kid }) => kid)).to.deep.equal([FOUNDING.signingKeyId]);
    drop();
    expect(kids()).to.deep.equal(["a"]);
    log.wallMs += 10_000 * HOUR_MS;
    drop();
    expect(kids(), "the signing key stays").to.deep.equal(["a"]);
  });

  it("is refused for hours once many keys are in the ring, so that it is never full", () => {
    for (let count = 1; count < 8; count++) {
      expect(rotate(`k${count}`)).to.include({ kid: `k${count}` });
    }
    const refusal = rotate("more");
    expect(refusal).to.have.property("reason", "QUOTA");
    expect(refusal).to.have.property("message", "the signing key was replaced too often; try again in 215 minutes");
    let most = 0;
    for (let hours = 0; hours < 100; hours++) {
      log.wallMs += HOUR_MS;
      rotate(`at ${hours}`);
      most = Math.max(most, kids().length);
    }
    expect(most).to.be.within(8, 15);
    expect(kids()[0], "it was replaced in the last four hours").to.be.oneOf(["at 96", "at 97", "at 98", "at 99"]);
  });

  it("is refused while the ring is full, until keys have ended, in a cluster of version 4", () => {
    log = new AppliedLog(DEFAULT_STATE_LIMITS, { ...FOUNDING, clusterVersion: 4 });
    for (let count = 1; count < 16; count++) {
      expect(rotate(`k${count}`)).to.include({ kid: `k${count}` });
    }
    expect(rotate("more")).to.have.property("reason", "QUOTA");
    expect(kids()).to.have.length(16);
    log.wallMs += 26 * HOUR_MS;
    expect(rotate("more")).to.include({ kid: "more" });
    expect(kids()).to.deep.equal(["more", "k15"]);
  });

  it("answers a retry with the key of the first request (S13)", () => {
    const asked = { ifKid: "", subject: "admin", request: requestOf(3) };
    const command = { kind: "rotate-signing-key", ...keyOf("a", 0), ...asked } as const;
    log.lead(command);
    expect(log.lead({ ...command, kid: "b" })).to.deep.include({ replayed: "yes" });
    expect(kids()).to.deep.equal(["a", FOUNDING.signingKeyId]);
  });
});

describe("the page token key", () => {
  it("is absent before the founding, and has 32 bytes afterwards", () => {
    expect(readPageTokenKey(new MemoryStateStore())).to.equal(undefined);
    expect(readPageTokenKey(new AppliedLog().store)).to.deep.equal(FOUNDING.pageTokenKey);
  });

  it("is stored unchanged, and only with this length", () => {
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
