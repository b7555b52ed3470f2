import { expect } from "chai";
import { calculateJwkThumbprint, type JWK } from "jose";
import { AppliedLog, FOUNDING } from "../../test/index.ts";
import { generateSigningKey, publicJwks, SigningRing } from "./signing-ring.ts";

describe("SigningRing", () => {
  it("imports each key once, and does not export the private half", async () => {
    const ring = new SigningRing();
    const key = { ...(await generateSigningKey()), createdAtMs: 0 };
    const privateKey = await ring.privateKey(key);
    expect(privateKey.extractable).to.equal(false);
    expect(privateKey.usages).to.deep.equal(["sign"]);
    expect(await ring.privateKey({ ...key })).to.equal(privateKey);
    const publicKey = await ring.publicKey(key);
    expect(publicKey.usages).to.deep.equal(["verify"]);
    expect(await ring.publicKey({ ...key })).to.equal(publicKey);
  });

  it("distinguishes keys by their kid", async () => {
    const ring = new SigningRing();
    const first = { ...(await generateSigningKey()), createdAtMs: 0 };
    const second = { ...(await generateSigningKey()), createdAtMs: 0 };
    expect(first.kid).not.to.equal(second.kid);
    expect(await ring.publicKey(first)).not.to.equal(await ring.publicKey(second));
  });

  it("returns only the public halves of all keys of the cluster, newest first", async () => {
    const log = new AppliedLog();
    const key = await generateSigningKey();
    log.lead({ kind: "rotate-signing-key", ...key, ifKid: "", subject: "", request: null });
    const { keys } = publicJwks(log.store);
    expect(keys.map(({ kid }) => kid)).to.deep.equal([key.kid, FOUNDING.signingKeyId]);
    const jwk = { kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" };
    const x = Buffer.from(key.publicKey).toString("base64url");
    expect(keys[0]).to.deep.equal({ ...jwk, kid: key.kid, x });
    expect(await calculateJwkThumbprint({ ...keys[0] } as JWK)).to.equal(key.kid);
  });
});
