import { expect } from "chai";
import type { JWTPayload } from "jose";
import { refused } from "../../test/index.ts";
import { CoordinationError } from "../state/index.ts";
import { type Claims, claimsOf, isExpired, payloadOf } from "./claims.ts";

const CLUSTER_ID = "0d0c8c9e-6e0e-4f0f-9b7a-3a1d6d0f2a11";
const NOW_SECS = 1_750_000_000;
/** Not a whole second: whole seconds are compared with it exactly. */
const NOW_MS = NOW_SECS * 1000 + 250;

const CLAIMS: Claims = {
  subject: "9f8b",
  issuedAtSecs: NOW_SECS,
  expiresAtSecs: NOW_SECS + 3600,
  namespaces: ["prod-eu", "*"],
  access: ["read", "write"],
  role: "member",
  tokenId: "a8c1",
  apiKeyId: "77aa",
  passwordVersion: 0,
};

function read(changes: JWTPayload): Claims {
  return claimsOf({ ...payloadOf(CLAIMS, CLUSTER_ID), ...changes }, CLUSTER_ID, NOW_MS);
}

describe("claims", () => {
  it("survive writing and reading", () => {
    expect(read({})).to.deep.equal(CLAIMS);
  });

  it("have the names and types of the specification", () => {
    expect(payloadOf(CLAIMS, CLUSTER_ID)).to.deep.equal({
      iss: "quoin",
      aud: CLUSTER_ID,
      sub: "9f8b",
      iat: NOW_SECS,
      exp: NOW_SECS + 3600,
      jti: "a8c1",
      namespaces: ["prod-eu", "*"],
      access: ["read", "write"],
      role: "member",
      key_id: "77aa",
    });
  });

  it("contain no key_id for a login, but the version of the password", () => {
    const login = { ...CLAIMS, apiKeyId: "", passwordVersion: 3 };
    const payload = payloadOf(login, CLUSTER_ID);
    expect(payload).to.include({ password_version: 3 }).and.not.to.have.property("key_id");
    expect(claimsOf(payload, CLUSTER_ID, NOW_MS)).to.deep.equal(login);
  });

  for (const version of [undefined, null, "3", -1, 1.5]) {
    it(`are invalid for a login with the password version ${JSON.stringify(version)}`, () => {
      const payload = { ...payloadOf({ ...CLAIMS, apiKeyId: "" }, CLUSTER_ID), password_version: version };
      expect(() => claimsOf(payload, CLUSTER_ID, NOW_MS))
        .to.throw(CoordinationError, "password_version")
        .with.property("reason", "TOKEN_INVALID");
    });
  }

  it("S41: may live for a day", () => {
    expect(read({ exp: NOW_SECS + 86_400 }).expiresAtSecs).to.equal(NOW_SECS + 86_400);
  });

  it("S41: may be issued up to 30 s ahead of this clock", () => {
    expect(read({ iat: NOW_SECS + 30 }).issuedAtSecs).to.equal(NOW_SECS + 30);
  });

  it("S41: expire at their second, without tolerance", () => {
    const claims = { ...CLAIMS, expiresAtSecs: NOW_SECS };
    expect(isExpired(claims, NOW_SECS * 1000 - 1)).to.equal(false);
    expect(isExpired(claims, NOW_SECS * 1000)).to.equal(true);
  });

  const bad: readonly (readonly [string, string, JWTPayload])[] = [
    ["S40: namespaces as a text", "namespaces", { namespaces: "prod-eu" }],
    ["S40: namespaces as a list of lists", "namespaces", { namespaces: [["prod-eu"]] }],
    ["S40: namespaces with a number", "namespaces", { namespaces: ["prod-eu", 1] }],
    ["S40: namespaces as an object", "namespaces", { namespaces: { 0: "prod-eu", length: 1 } }],
    ["S40: no namespaces", "namespaces", { namespaces: undefined }],
    ["S40: access as a text", "access", { access: "admin" }],
    ["S40: access as a list of lists", "access", { access: [["admin"]] }],
    ["S40: no access", "access", { access: undefined }],
    ["an access level that does not exist", "access", { access: ["read", "root"] }],
    ["a role that does not exist", "role", { role: "__proto__" }],
    ["no role", "role", { role: undefined }],
    ["no sub", "sub", { sub: undefined }],
    ["an empty sub", "sub", { sub: "" }],
    ["a sub that is a number", "sub", { sub: 1 as unknown as string }],
    ["no jti", "jti", { jti: undefined }],
    ["an empty key_id", "key_id", { key_id: "" }],
    ["a key_id that is null", "key_id", { key_id: null }],
    ["S41: a fractional iat", "iat", { iat: NOW_SECS + 0.5 }],
    ["S41: an iat 31 s ahead", "iat", { iat: NOW_SECS + 31 }],
    ["S41: an iat in milliseconds", "iat", { iat: NOW_MS }],
    ["S41: an iat as a text", "iat", { iat: String(NOW_SECS) as unknown as number }],
    ["S41: no iat", "iat", { iat: undefined }],
    ["S41: a negative iat", "iat", { iat: -1 }],
    ["S41: no exp", "exp", { exp: undefined }],
    ["S41: a fractional exp", "exp", { exp: NOW_SECS + 3600.5 }],
    ["S41: an exp beyond 2^53", "exp", { exp: 2 ** 53 }],
    ["S41: a life of more than a day", "exp", { exp: NOW_SECS + 86_401 }],
    ["another issuer", "iss", { iss: "quoin2" }],
    ["no issuer", "iss", { iss: undefined }],
    ["another cluster", "aud", { aud: "0d0c8c9e-6e0e-4f0f-9b7a-3a1d6d0f2a12" }],
    ["a list of clusters", "aud", { aud: [CLUSTER_ID] }],
    ["no cluster", "aud", { aud: undefined }],
  ] as readonly (readonly [string, string, JWTPayload])[];
  for (const [name, claim, changes] of bad) {
    it(`refuse ${name}`, async () => {
      const error = await refused(() => read(changes));
      expect(error.reason).to.equal("TOKEN_INVALID");
      expect(error.message).to.include(`"${claim}"`);
    });
  }
});
