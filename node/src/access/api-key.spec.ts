import { createHash } from "node:crypto";
import { expect } from "chai";
import { apiKeyPrefix, apiKeySha256, createApiKeyMaterial, generateApiKey, matchesApiKey } from "./api-key.ts";

const KEY = `qk_0aZ9bY8c_${"x".repeat(43)}`;

describe("API keys", () => {
  it("are generated in their form, with every character of base62, and never twice", () => {
    const keys = new Set<string>();
    const characters = new Set<string>();
    for (let round = 0; round < 200; round++) {
      const key = generateApiKey();
      expect(key).to.match(/^qk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
      keys.add(key);
      for (const character of key.slice(12)) {
        characters.add(character);
      }
    }
    expect(keys.size).to.equal(200);
    // 8,600 draws miss one of the 62 with a probability below 1e-58.
    expect(characters.size).to.equal(62);
  });

  it("show their public part", () => {
    expect(apiKeyPrefix(KEY)).to.equal("qk_0aZ9bY8c");
  });

  const malformed = [
    "",
    "qk_",
    KEY.slice(0, -1),
    `${KEY}x`,
    `${KEY}\n`,
    ` ${KEY}`,
    KEY.replace("qk_", "QK_"),
    KEY.replace("_x", "-x"),
    KEY.replace("0aZ9bY8c", "0aZ9bY8"),
    KEY.replace("0aZ9", "0aé9"),
    KEY.replace("xx", "x_"),
  ];
  for (const text of malformed) {
    it(`are not ${JSON.stringify(text)}`, () => {
      expect(apiKeyPrefix(text)).to.equal(null);
    });
  }

  it("S42: are compared as SHA-256 of the whole text", () => {
    const sha256 = createHash("sha256").update(KEY).digest();
    expect(Buffer.from(apiKeySha256(KEY)).equals(sha256)).to.equal(true);
    expect(matchesApiKey(KEY, sha256)).to.equal(true);
    expect(matchesApiKey(KEY.replace(/x$/, "y"), sha256)).to.equal(false);
    expect(matchesApiKey(KEY.replace("qk_0", "qk_1"), sha256)).to.equal(false);
    expect(matchesApiKey("", sha256)).to.equal(false);
  });

  it("are created with their stored data and their own id", () => {
    const { apiKey, apiKeyId, prefix, sha256 } = createApiKeyMaterial();
    expect(apiKeyPrefix(apiKey)).to.equal(prefix);
    expect(matchesApiKey(apiKey, sha256)).to.equal(true);
    expect(apiKeyId).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(createApiKeyMaterial().apiKeyId).not.to.equal(apiKeyId);
  });
});
