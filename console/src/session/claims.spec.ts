import { expect } from "chai";
import { claimsOf } from "./claims.ts";

function tokenOf(payload: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "EdDSA" })}.${part(payload)}.c2lnbmF0dXJl`;
}

describe("claims of a token", () => {
  it("are read from its payload, whatever characters it has", () => {
    const token = tokenOf({ sub: "u", role: "viewer", namespaces: ["a", "\u00fc??>>"], exp: 1_700_000_000 });
    expect(claimsOf(token)).to.deep.equal({
      subject: "u",
      role: "viewer",
      namespaces: ["a", "\u00fc??>>"],
      expiresAtMs: 1_700_000_000_000,
    });
  });

  it("need a token", () => {
    for (const text of ["", "a.b", "qk_12345678_x"]) {
      expect(() => claimsOf(text), text).to.throw();
    }
  });
});
