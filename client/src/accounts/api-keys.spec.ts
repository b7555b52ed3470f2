import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type ApiKeyInfo, type Client, createClient } from "../index.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const LISTED = { apiKeyId: ID, name: "ci", keyPrefix: "qk_1", userId: "u", createdAtMs: 1_000n, lastUsedAtMs: 3_000n };

describe("API keys of the SDK", () => {
  let member: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    const runtime = new FakeRuntime();
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  const asked = () => member.calls.map(({ method, request }) => [method, request]);

  it("are created, with or without an end", async () => {
    let attempts = 0;
    member.scripts.createApiKey = ({ expiresInDays }) => {
      attempts += 1;
      const apiKey = { ...LISTED, expiresAtMs: expiresInDays * 1_000n };
      return attempts === 1 ? refuse({ code: "UNAVAILABLE", outcome: "unknown" }) : { apiKey, key: "qk_1_secret" };
    };
    expect(await client.keys.create("ci", { expiresInDays: 31 })).to.deep.equal({
      apiKeyId: ID,
      name: "ci",
      key: "qk_1_secret",
      createdAtMs: 1_000,
      expiresAtMs: 31_000,
    });
    expect((await client.keys.create("ci")).expiresAtMs).to.equal(undefined);
    expect(asked()).to.deep.equal([
      ["createApiKey", { name: "ci", expiresInDays: 31n }],
      ["createApiKey", { name: "ci", expiresInDays: 31n }],
      ["createApiKey", { name: "ci", expiresInDays: 0n }],
    ]);
    expect(member.calls[0]?.requestId).to.deep.equal(member.calls[1]?.requestId);
    for (const expiresInDays of [0, -1]) {
      const refused = await failure(client.keys.create("ci", { expiresInDays }));
      expect(refused.message).to.equal(`expiresInDays must be 1 or more, not ${expiresInDays}`);
    }
  });

  it("are an error if they were created and the answer with the key was lost", async () => {
    member.scripts.createApiKey = () => ({ apiKey: LISTED });
    const lost = await failure(client.keys.create("ci"));
    expect(lost).to.include({ code: "DATA_LOSS", reason: "API_KEY_LOST", outcome: "unknown" });
    expect(lost.details.get("api_key_id")).to.equal(ID);
  });

  it("are listed page by page, with undefined for events that have not happened", async () => {
    member.scripts.listApiKeys = ({ pageToken }) =>
      pageToken === "" ? { keys: [LISTED], nextPageToken: "a" } : { keys: [] };
    const pages: (readonly ApiKeyInfo[])[] = [];
    for await (const page of client.keys.pages({ userId: ID, includeRevoked: true, pageSize: 2 })) {
      pages.push(page);
    }
    expect(pages).to.deep.equal([
      [
        {
          apiKeyId: ID,
          name: "ci",
          keyPrefix: "qk_1",
          createdAtMs: 1_000,
          expiresAtMs: undefined,
          lastUsedAtMs: 3_000,
          revokedAtMs: undefined,
        },
      ],
      [],
    ]);
    await client.keys.pages({ all: true }).next();
    const fields = { userId: ID, all: false, includeRevoked: true, pageSize: 2 };
    expect(asked()).to.deep.equal([
      ["listApiKeys", { ...fields, pageToken: "" }],
      ["listApiKeys", { ...fields, pageToken: "a" }],
      ["listApiKeys", { userId: "", all: true, includeRevoked: false, pageSize: 0, pageToken: "" }],
    ]);
  });

  it("are revoked, and again if the outcome of the first request is unknown", async () => {
    let attempts = 0;
    member.scripts.revokeApiKey = () => {
      attempts += 1;
      return attempts === 1 ? refuse({ code: "UNAVAILABLE", outcome: "unknown" }) : { revokedAtMs: 2_000n };
    };
    expect(await client.keys.revoke(ID)).to.deep.equal({ apiKeyId: ID, revokedAtMs: 2_000 });
    member.scripts.revokeApiKey = () => refuse({ code: "NOT_FOUND", reason: "API_KEY_NOT_FOUND" });
    expect(await failure(client.keys.revoke(ID))).to.include({ code: "NOT_FOUND", reason: "API_KEY_NOT_FOUND" });
    expect(asked()).to.deep.equal(Array(3).fill(["revokeApiKey", { apiKeyId: ID }]));
  });
});
