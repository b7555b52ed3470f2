import { expect } from "chai";
import fc from "fast-check";
import { FoundedCluster, refused, secrets } from "../../test/index.ts";
import { encodeText } from "../state/index.ts";
import { type Listing, signPageToken, verifyPageToken } from "./page-token.ts";

describe("page tokens (S18)", () => {
  let cluster: FoundedCluster;
  before(async () => {
    cluster = new FoundedCluster();
  });

  const listing = { of: "keys", namespace: "default", prefix: encodeText("jobs/") } as const;
  const lastKey = encodeText("jobs/17");

  it("return the last key, on every member, whatever its bytes", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 1024 });
    fc.assert(
      fc.property(fc.string(), bytes, bytes, (namespace, prefix, key) => {
        const token = signPageToken(cluster.state, { of: "keys", namespace, prefix }, key);
        expect(token).to.match(/^[A-Za-z0-9_-]+$/);
        const other = new FoundedCluster();
        expect([...verifyPageToken(other.state, { of: "keys", namespace, prefix }, token)]).to.deep.equal([...key]);
      }),
      { numRuns: 50 },
    );
  });

  const elsewhere: readonly (readonly [string, Listing])[] = [
    ["another namespace", { ...listing, namespace: "default2" }],
    ["another prefix", { ...listing, prefix: encodeText("jobs/1") }],
    ["no prefix", { ...listing, prefix: new Uint8Array(0) }],
    [
      "a boundary moved between namespace and prefix",
      { ...listing, namespace: "defaultj", prefix: encodeText("obs/") },
    ],
    ["regions instead of keys", { ...listing, of: "regions" }],
  ];
  for (const [name, other] of elsewhere) {
    it(`are refused with ${name}`, async () => {
      const token = signPageToken(cluster.state, listing, lastKey);
      const error = await refused(() => verifyPageToken(cluster.state, other, token));
      expect([error.code, error.reason]).to.deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
      expect(error.message).to.include("page_token");
      expect(error.details.get("field")).to.equal("page_token");
    });
  }

  it("are refused with any bit changed and at any shorter length", async () => {
    const token = signPageToken(cluster.state, listing, lastKey);
    const bytes = Buffer.from(token, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      await refused(() => verifyPageToken(cluster.state, listing, changed.toString("base64url")));
    }
    for (let length = 0; length < token.length; length++) {
      await refused(() => verifyPageToken(cluster.state, listing, token.slice(0, length)));
    }
  });

  it("have one text each: another text that decodes to the same bytes is refused", async () => {
    const token = signPageToken(cluster.state, listing, lastKey);
    for (const same of [
      `${token}=`,
      `${token} `,
      ` ${token}`,
      `${token}\n`,
      `${token.slice(0, 4)}!${token.slice(4)}`,
    ]) {
      expect(Buffer.from(same, "base64url").equals(Buffer.from(token, "base64url")), same).to.equal(true);
      await refused(() => verifyPageToken(cluster.state, listing, same));
    }
  });

  it("of another cluster are refused", async () => {
    const foreign = new FoundedCluster({ ...secrets.founding, pageTokenKey: new Uint8Array(32).fill(1) });
    const token = signPageToken(foreign.state, listing, lastKey);
    await refused(() => verifyPageToken(cluster.state, listing, token));
  });

  it("that are much too long are refused before they are decoded", async () => {
    await refused(() => verifyPageToken(cluster.state, listing, "A".repeat(4_000_000)));
  });

  it("fit their limit with the longest key", () => {
    const longest = new Uint8Array(1024).fill(0x61);
    const token = signPageToken(cluster.state, listing, longest);
    expect(verifyPageToken(cluster.state, listing, token).length).to.equal(1024);
  });
});
