import { expect } from "chai";
import { generateSigningKey, SigningRing } from "./signing-ring.ts";

describe("SigningRing", () => {
  it("imports each key once, and keeps the private half to itself", async () => {
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

  it("keeps keys apart by their kid", async () => {
    const ring = new SigningRing();
    const first = { ...(await generateSigningKey()), createdAtMs: 0 };
    const second = { ...(await generateSigningKey()), createdAtMs: 0 };
    expect(first.kid).not.to.equal(second.kid);
    expect(await ring.publicKey(first)).not.to.equal(await ring.publicKey(second));
  });
});
