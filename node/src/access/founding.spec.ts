import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { expect } from "chai";
import { deriveCheaply, FoundedCluster, refused, secrets } from "../../test/index.ts";
import { encodeFounding, readApiKeyByPrefix, readSigningKeys, readUserByEmail } from "../state/index.ts";
import { createFounding, type FoundingRequest } from "./founding.ts";
import { verifyPassword } from "./password.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function request(changes: Partial<FoundingRequest["owner"]> = {}, clusterId?: string): FoundingRequest {
  return {
    clusterId: clusterId ?? "4c1f8e0a-9f0f-4a4e-8a57-0f6b5d1c2e3f",
    clusterName: "test",
    memberName: "member-0",
    incarnation: new Uint8Array(16),
    address: { peerEndpoint: "127.0.0.1:1", grpcEndpoint: "127.0.0.1:2", httpEndpoint: "127.0.0.1:3" },
    owner: { email: "ada@example.com", password: "password", apiKey: `qk_abcdefgh_${"0".repeat(43)}`, ...changes },
  };
}

describe("createFounding", () => {
  it("makes an owner who can log in, from the records of the founding entry", async () => {
    const { state } = new FoundedCluster();
    const user = readUserByEmail(state, "owner@QUOIN.local");
    expect(user).to.include({ email: "Owner@quoin.local", role: "owner", status: "active" });
    expect(user?.namespaces).to.deep.equal(["*"]);
    expect(await verifyPassword(secrets.password, user?.passwordHash, deriveCheaply)).to.equal(true);
    const apiKey = readApiKeyByPrefix(state, secrets.apiKey.slice(0, 11));
    expect(apiKey?.userId).to.equal(user?.userId);
    expect(Buffer.from(apiKey?.sha256 ?? []).toString("hex")).to.equal(
      createHash("sha256").update(secrets.apiKey).digest("hex"),
    );
  });

  it("makes an Ed25519 pair whose halves belong together, named by its thumbprint (RFC 7638)", async () => {
    const { state } = new FoundedCluster();
    const [key, ...more] = readSigningKeys(state);
    expect(more).to.deep.equal([]);
    const x = Buffer.from(key?.publicKey ?? []).toString("base64url");
    const d = Buffer.from(key?.privateKey ?? []).toString("base64url");
    const jwk = { kty: "OKP", crv: "Ed25519", x };
    const signature = sign(null, Buffer.from("hello"), createPrivateKey({ key: { ...jwk, d }, format: "jwk" }));
    const publicKey = createPublicKey({ key: jwk, format: "jwk" });
    expect(verify(null, Buffer.from("hello"), publicKey, signature)).to.equal(true);
    const thumbprint = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
    expect(key?.kid).to.equal(thumbprint);
  });

  it("generates new ids, keys and salts each time, and stores no secret in plaintext", async () => {
    const asked = request({ password: "Kein-Geheimnis-42" });
    const [first, second] = await Promise.all([
      createFounding(asked, deriveCheaply),
      createFounding(asked, deriveCheaply),
    ]);
    expect(first.owner.userId).to.match(UUID);
    expect(first.owner.apiKeyId).to.match(UUID);
    expect(first.pageTokenKey.length).to.equal(32);
    expect(first.owner.userId).not.to.equal(second.owner.userId);
    expect(first.owner.apiKeyId).not.to.equal(second.owner.apiKeyId);
    expect(first.owner.passwordHash).not.to.equal(second.owner.passwordHash);
    expect(first.signingKeyId).not.to.equal(second.signingKeyId);
    expect(Buffer.from(first.pageTokenKey).equals(second.pageTokenKey)).to.equal(false);
    const entry = Buffer.from(encodeFounding(first));
    expect(entry.includes("ada@example.com")).to.equal(true);
    expect(entry.includes("Kein-Geheimnis-42")).to.equal(false);
    expect(entry.includes("0".repeat(43))).to.equal(false);
  });

  const bad: readonly (readonly [string, FoundingRequest])[] = [
    ["owner.email", request({ email: "ada" })],
    ["owner.password", request({ password: "short-7" })],
    ["owner.password", request({ password: "x".repeat(1025) })],
    ["owner.api_key", request({ apiKey: "qk_abcdefgh_tooshort" })],
    ["owner.api_key", request({ apiKey: "" })],
    ["cluster_id", request({}, "cluster-one")],
    ["cluster_id", request({}, "")],
    ["cluster_id", request({}, "4C1F8E0A-9F0F-4A4E-8A57-0F6B5D1C2E3F")],
  ];
  for (const [field, asked] of bad) {
    it(`refuses a bad ${field} by name, and does not repeat it`, async () => {
      const error = await refused(() => createFounding(asked, deriveCheaply));
      expect([error.code, error.reason]).to.deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
      expect(error.message.startsWith(`${field} `), error.message).to.equal(true);
      expect(error.details.get("field")).to.equal(field);
      for (const secret of [asked.owner.password, asked.owner.apiKey]) {
        expect(secret !== "" && error.message.includes(secret)).to.equal(false);
      }
    });
  }
});
