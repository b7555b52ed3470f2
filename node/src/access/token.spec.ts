import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { expect } from "chai";
import type { CryptoKey } from "jose";
import { refused } from "../../test/index.ts";
import { type Claims, claimsOf } from "./claims.ts";
import { generateSigningKey, SigningRing } from "./signing-ring.ts";
import { signToken, verifySignature } from "./token.ts";

const CLUSTER_ID = "0d0c8c9e-6e0e-4f0f-9b7a-3a1d6d0f2a11";
const NOW_MS = 1_750_000_000_250;
const CLAIMS: Claims = {
  subject: "9f8b",
  issuedAtSecs: 1_750_000_000,
  expiresAtSecs: 1_750_003_600,
  namespaces: ["a"],
  access: ["read"],
  role: "viewer",
  tokenId: "a8c1",
  apiKeyId: "",
  passwordVersion: 0,
};
const PAYLOAD = { iss: "quoin", aud: CLUSTER_ID, sub: "9f8b", iat: 1_750_000_000, exp: 1_750_003_600 };

function json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Makes a token without the library that reads it. */
function token(header: unknown, payload: unknown, signer: (input: Buffer) => Buffer): string {
  const input = `${json(header)}.${json(payload)}`;
  return `${input}.${signer(Buffer.from(input)).toString("base64url")}`;
}

describe("tokens", () => {
  const ring = new SigningRing();
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const signer = (input: Buffer) => sign(null, input, privateKey);
  let keys: ReadonlyMap<string, CryptoKey>;
  let asked: string[];

  function rawPublicKey(key: KeyObject): Buffer {
    return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
  }

  before(async () => {
    const none = new Uint8Array(32);
    const known = { kid: "k1", publicKey: rawPublicKey(publicKey), privateKey: none, createdAtMs: 0 };
    keys = new Map([["k1", await ring.publicKey(known)]]);
  });

  beforeEach(() => {
    asked = [];
  });

  async function publicKeyOf(kid: string): Promise<CryptoKey> {
    asked.push(kid);
    return keys.get(kid) as CryptoKey;
  }

  it("that were signed here verify here, with header and claims as documented", async () => {
    const key = { ...(await generateSigningKey()), createdAtMs: 0 };
    const text = await signToken(CLAIMS, CLUSTER_ID, key.kid, await ring.privateKey(key));
    const payload = await verifySignature(text, () => ring.publicKey(key), NOW_MS);
    expect(claimsOf(payload, CLUSTER_ID, NOW_MS)).to.deep.equal(CLAIMS);
    const header = JSON.parse(Buffer.from(text.split(".")[0] ?? "", "base64url").toString());
    expect(header).to.deep.equal({ alg: "EdDSA", kid: key.kid });
  });

  it("that another implementation signed verify, by the key that their kid names", async () => {
    const text = token({ alg: "EdDSA", kid: "k1" }, PAYLOAD, signer);
    expect(await verifySignature(text, publicKeyOf, NOW_MS)).to.deep.equal(PAYLOAD);
    expect(asked).to.deep.equal(["k1"]);
  });

  it("expire at their second, without tolerance (S41)", async () => {
    const text = token({ alg: "EdDSA", kid: "k1" }, PAYLOAD, signer);
    await verifySignature(text, publicKeyOf, PAYLOAD.exp * 1000 - 1);
    const error = await refused(() => verifySignature(text, publicKeyOf, PAYLOAD.exp * 1000));
    expect([error.code, error.reason]).to.deep.equal(["UNAUTHENTICATED", "TOKEN_EXPIRED"]);
  });

  it("that were changed anywhere after signing are invalid", async () => {
    const text = token({ alg: "EdDSA", kid: "k1" }, PAYLOAD, signer);
    const [header, , signature] = text.split(".");
    const raised = `${header}.${json({ ...PAYLOAD, sub: "other" })}.${signature}`;
    const flipped = Buffer.from(signature ?? "", "base64url");
    flipped.writeUInt8(flipped.readUInt8(5) ^ 4, 5);
    for (const changed of [raised, `${header}.${text.split(".")[1]}.${flipped.toString("base64url")}`]) {
      const error = await refused(() => verifySignature(changed, publicKeyOf, NOW_MS));
      expect(error.reason).to.equal("TOKEN_INVALID");
      expect(error.message).to.include("signature");
    }
  });

  const other = generateKeyPairSync("ed25519").privateKey;
  const raw = rawPublicKey(publicKey);
  const pem = publicKey.export({ format: "pem", type: "spki" });
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const bad: readonly (readonly [string, string])[] = [
    ["signed with another key", token({ alg: "EdDSA", kid: "k1" }, PAYLOAD, (input) => sign(null, input, other))],
    ["S41: alg none, no signature", token({ alg: "none", kid: "k1" }, PAYLOAD, () => Buffer.alloc(0))],
    ["S41: alg None, good signature", token({ alg: "None", kid: "k1" }, PAYLOAD, signer)],
    ["S41: no alg", token({ kid: "k1" }, PAYLOAD, signer)],
    ["S41: alg as a list", token({ alg: ["EdDSA"], kid: "k1" }, PAYLOAD, signer)],
    [
      "S41: HS256 with the raw public key as secret",
      token({ alg: "HS256", kid: "k1" }, PAYLOAD, (input) => createHmac("sha256", raw).update(input).digest()),
    ],
    [
      "S41: HS256 with the public key's PEM as secret",
      token({ alg: "HS256", kid: "k1" }, PAYLOAD, (input) => createHmac("sha256", pem).update(input).digest()),
    ],
    ["S41: RS256", token({ alg: "RS256", kid: "k1" }, PAYLOAD, (input) => sign("sha256", input, rsa))],
    ["a key brought along (jwk)", token({ alg: "EdDSA", jwk: publicKey.export({ format: "jwk" }) }, PAYLOAD, signer)],
    ["no kid", token({ alg: "EdDSA" }, PAYLOAD, signer)],
    ["an empty kid", token({ alg: "EdDSA", kid: "" }, PAYLOAD, signer)],
    ["a kid that is a list", token({ alg: "EdDSA", kid: ["k1"] }, PAYLOAD, signer)],
    ["a critical extension", token({ alg: "EdDSA", kid: "k1", crit: ["x"], x: 1 }, PAYLOAD, signer)],
    ["a payload that is no object", token({ alg: "EdDSA", kid: "k1" }, [PAYLOAD], signer)],
    ["a payload that is null", token({ alg: "EdDSA", kid: "k1" }, null, signer)],
    ["an exp that is a text", token({ alg: "EdDSA", kid: "k1" }, { ...PAYLOAD, exp: "1750003600" }, signer)],
    ["one part", "abc"],
    ["two parts", `${json({ alg: "EdDSA", kid: "k1" })}.${json(PAYLOAD)}`],
    ["four parts", `${token({ alg: "EdDSA", kid: "k1" }, PAYLOAD, signer)}.e30`],
    ["three empty parts", ".."],
    ["a header that is no JSON", `e30x.${json(PAYLOAD)}.AAAA`],
    ["a signature in another alphabet", `${json({ alg: "EdDSA", kid: "k1" })}.${json(PAYLOAD)}.+/+/`],
  ];
  for (const [name, text] of bad) {
    it(`with ${name} are invalid, and not repeated`, async () => {
      const error = await refused(() => verifySignature(text, publicKeyOf, NOW_MS));
      expect([error.code, error.reason]).to.deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
      expect(error.message).to.match(/token/);
      expect(error.cause).to.equal(undefined);
      for (const part of text.split(".").filter((piece) => piece.length > 4)) {
        expect(error.message).not.to.include(part);
      }
    });
  }

  it("S41: of another algorithm are refused before any search for a key", async () => {
    await refused(() => verifySignature(token({ alg: "none", kid: "k1" }, PAYLOAD, signer), publicKeyOf, NOW_MS));
    expect(asked).to.deep.equal([]);
  });

  it("pass on the error of the key look-up unchanged", async () => {
    const bug = new TypeError("a bug");
    let thrown: unknown;
    try {
      await verifySignature(token({ alg: "EdDSA", kid: "k1" }, PAYLOAD, signer), () => Promise.reject(bug), NOW_MS);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).to.equal(bug);
  });
});
