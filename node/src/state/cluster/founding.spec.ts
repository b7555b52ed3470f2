import { expect } from "chai";
import { AppliedLog, FOUNDING, MemoryStateStore, machineOver, soleVoter } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { readApiKeyByPrefix, readUserByEmail, refusalOf } from "../accounts/index.ts";
import { readCluster, readNamespace } from "../core/index.ts";
import { DEFAULT_NAMESPACE, decodeFounding, encodeFounding } from "./founding.ts";

const FIELDS = [
  "0000002430643063386339652d366530652d346630662d396237612d336131643664306632613131", // cluster id
  "0000000473706563 000000086d656d6265722d30", // names of cluster and member
  "11".repeat(16),
  "0000000e3132372e302e302e313a37343032 0000000e3132372e302e302e313a37343030 0000000e3132372e302e302e313a37343031",
  "0000000a757365722d6f776e6572 000000114f776e65724071756f696e2e6c6f63616c 0000000b7363727970742473706563",
  "0000000d6170692d6b65792d6f776e6572 0000000b716b5f30615a3962593863",
  "22".repeat(32),
  "0000000d7369676e696e672d6b65792d31",
  "33".repeat(32),
  "44".repeat(32),
  "55".repeat(32),
]
  .join("")
  .replaceAll(" ", "");

describe("the founding entry", () => {
  for (const [clusterVersion, head] of [
    [3, "01"],
    [4, "03 00000004"],
  ] as const) {
    it(`of cluster version ${clusterVersion} comes back as written, in these bytes`, () => {
      const golden = `${head.replaceAll(" ", "")}${FIELDS}`;
      const founding = { ...FOUNDING, clusterVersion };
      expect(encodeFounding(founding).toHex()).to.equal(golden);
      expect(decodeFounding(Uint8Array.fromHex(golden))).to.deep.equal(founding);
    });
  }

  it("is refused after every truncation, with a byte more, and in an unknown format", () => {
    const encoded = encodeFounding(FOUNDING);
    for (let length = 0; length < encoded.length; length++) {
      expect(() => decodeFounding(encoded.subarray(0, length))).to.throw(InvariantViolation);
    }
    expect(() => decodeFounding(Uint8Array.of(...encoded, 0))).to.throw(InvariantViolation, "to their end");
    expect(() => decodeFounding(Uint8Array.of(2, ...encoded.subarray(1)))).to.throw(InvariantViolation, "known format");
  });

  it("refuses ids, hashes and keys of a wrong length, which could never be applied", () => {
    const short = new Uint8Array(15);
    for (const broken of [
      { ...FOUNDING, incarnation: short },
      { ...FOUNDING, owner: { ...FOUNDING.owner, apiKeySha256: short } },
      { ...FOUNDING, signingPublicKey: short },
      { ...FOUNDING, signingPrivateKey: short },
      { ...FOUNDING, pageTokenKey: short },
    ]) {
      expect(() => encodeFounding(broken)).to.throw(InvariantViolation, "fixed length");
    }
  });

  it("creates an owner with all rights, verified, with an API key that never expires", () => {
    const { store, wallMs } = new AppliedLog();
    const user = readUserByEmail(store, "owner@QUOIN.local");
    expect(user).to.deep.equal({
      userId: FOUNDING.owner.userId,
      email: FOUNDING.owner.email,
      role: "owner",
      namespaces: ["*"],
      status: "active",
      passwordHash: FOUNDING.owner.passwordHash,
      passwordVersion: 0,
      createdAtMs: wallMs,
    });
    expect(readApiKeyByPrefix(store, FOUNDING.owner.apiKeyPrefix)).to.deep.equal({
      apiKeyId: FOUNDING.owner.apiKeyId,
      userId: FOUNDING.owner.userId,
      name: "owner",
      prefix: FOUNDING.owner.apiKeyPrefix,
      sha256: FOUNDING.owner.apiKeySha256,
      createdAtMs: wallMs,
      expiresAtMs: 0,
      revokedAtMs: 0,
      lastUsedAtMs: 0,
    });
    const principal = { subject: FOUNDING.owner.userId, apiKeyId: FOUNDING.owner.apiKeyId };
    const need = { access: "admin", namespace: "any-that-will-be" } as const;
    expect(refusalOf(store, principal, need, wallMs)).to.equal(null);
  });

  it("creates the namespace that every cluster starts with, at the first revision", () => {
    const log = new AppliedLog();
    expect(DEFAULT_NAMESPACE).to.equal("default");
    expect(readNamespace(log.store, "default")).to.deep.equal({
      createdAtMs: log.wallMs,
      createRevision: 1,
      deleteRevision: 0,
    });
    expect(log.revision).to.equal(1);
  });

  it("gives the founder the index of the entry as its id", () => {
    const [founder] = readCluster(new AppliedLog().store)?.members ?? [];
    expect(founder?.id).to.equal(1);
  });

  it("P42: shows nothing before it is committed", () => {
    const store = new MemoryStateStore();
    const machine = machineOver(store);
    machine.apply(new AppliedLog().rows[0] as Uint8Array, soleVoter);
    expect(readCluster(store)).to.equal(undefined);
    machine.commit();
    expect(readCluster(store)?.clusterId).to.equal(FOUNDING.clusterId);
  });
});
