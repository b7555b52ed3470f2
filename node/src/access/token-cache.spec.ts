import { expect } from "chai";
import { type Caller, callerOf } from "./caller.ts";
import { TokenCache } from "./token-cache.ts";

function caller(subject: string, expiresAtSecs = 100): Caller {
  return callerOf({
    subject,
    issuedAtSecs: 1,
    expiresAtSecs,
    namespaces: [],
    access: [],
    role: "viewer",
    tokenId: "id",
    apiKeyId: "",
    passwordVersion: 0,
  });
}

describe("TokenCache", () => {
  it("returns the caller of a token and of no other", () => {
    const cache = new TokenCache();
    const ada = caller("ada");
    cache.set("token-a", ada);
    expect(cache.get("token-a", 99_999)).to.equal(ada);
    expect(cache.get("token-b", 99_999)).to.equal(undefined);
  });

  it("drops a token when it has expired", () => {
    const cache = new TokenCache();
    cache.set("token", caller("ada", 100));
    expect(cache.get("token", 100_000)).to.equal(undefined);
    expect(cache.size).to.equal(0);
  });

  it("stays within its limit: it drops the least recently used tokens", () => {
    const cache = new TokenCache(2);
    cache.set("a", caller("a"));
    cache.set("b", caller("b"));
    cache.get("a", 1);
    cache.set("c", caller("c"));
    expect(cache.size).to.equal(2);
    expect(["a", "b", "c"].map((token) => cache.get(token, 1)?.principal.subject)).to.deep.equal(["a", undefined, "c"]);
  });

  it("does not grow by setting a token again", () => {
    const cache = new TokenCache(2);
    for (let round = 0; round < 3; round++) {
      cache.set("a", caller("a"));
      cache.set("b", caller("b"));
    }
    expect(cache.size).to.equal(2);
    expect(cache.get("a", 1)?.principal.subject).to.equal("a");
  });
});
