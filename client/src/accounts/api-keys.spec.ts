import { expect } from "chai";
import { answerInTurn, FakeRuntime, failure, ScriptedHttpMember, type StatusAndBody } from "../../test/index.ts";
import { type ApiKeyInfo, type Client, createClient } from "../index.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const LISTED = {
  api_key_id: ID,
  name: "ci",
  key_prefix: "qk_1",
  created_at: "2030-01-01T00:00:00.000Z",
  expires_at: null,
  last_used_at: "2030-01-02T00:00:00.000Z",
  revoked_at: null,
};
const UNAVAILABLE: StatusAndBody = [503, { error: "no leader", code: "unavailable" }];
const UNKNOWN: StatusAndBody = [504, { error: "who knows", code: "timeout" }];

describe("API keys of the SDK", () => {
  let member: ScriptedHttpMember;
  let client: Client;
  let answers: StatusAndBody[];

  beforeEach(async () => {
    member = await ScriptedHttpMember.start((...call) => answerInTurn(answers)(...call));
    const options = { endpoints: ["127.0.0.1:1"], httpEndpoints: [member.url], credentials: { token: "t" } };
    client = createClient({ ...options, runtime: new FakeRuntime() });
  });

  afterEach(async () => {
    client.close();
    await member.stop();
  });

  const lines = () => member.requests.map(({ method, path }) => `${method} ${path}`);

  it("are created, with or without an end, and not twice if the outcome of the first request is unknown", async () => {
    const made = { api_key_id: ID, name: "ci", key: "qk_1_secret", created_at: LISTED.created_at };
    answers = [UNAVAILABLE, [201, { ...made, expires_at: "2030-02-01T00:00:00.000Z" }]];
    expect(await client.keys.create("ci", { expiresInDays: 31 })).to.deep.equal({
      apiKeyId: ID,
      name: "ci",
      key: "qk_1_secret",
      createdAtMs: Date.parse(made.created_at),
      expiresAtMs: Date.parse("2030-02-01"),
    });
    answers = [[201, { ...made, expires_at: null }]];
    expect((await client.keys.create("ci")).expiresAtMs).to.equal(undefined);
    answers = [UNKNOWN];
    expect(await failure(client.keys.create("ci"))).to.include({ code: "DEADLINE_EXCEEDED", outcome: "unknown" });
    expect(member.requests.map(({ body }) => JSON.parse(body.toString()))).to.deep.equal([
      ...[{ name: "ci", expires_in_days: 31 }, { name: "ci", expires_in_days: 31 }, { name: "ci" }, { name: "ci" }],
    ]);
  });

  it("are listed page by page, with undefined for events that have not happened", async () => {
    answers = [
      [200, { keys: [LISTED], next_cursor: "a=" }],
      [200, { keys: [], next_cursor: null }],
    ];
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
          createdAtMs: Date.parse("2030-01-01"),
          expiresAtMs: undefined,
          lastUsedAtMs: Date.parse("2030-01-02"),
          revokedAtMs: undefined,
        },
      ],
      [],
    ]);
    await client.keys.pages({ all: true }).next();
    expect(lines()).to.deep.equal([
      `GET /keys?limit=2&user_id=${ID}&include_revoked=true`,
      `GET /keys?limit=2&user_id=${ID}&include_revoked=true&cursor=a%3D`,
      "GET /keys?limit=100&all=true",
    ]);
  });

  it("are revoked, and again if the outcome of the first request is unknown", async () => {
    answers = [UNKNOWN, [200, { api_key_id: ID, revoked: true, revoked_at: LISTED.last_used_at }]];
    expect(await client.keys.revoke(ID)).to.deep.equal({ apiKeyId: ID, revokedAtMs: Date.parse("2030-01-02") });
    answers = [[404, { error: "none", code: "key_not_found" }]];
    expect(await failure(client.keys.revoke("a/b"))).to.include({ code: "NOT_FOUND", reason: "API_KEY_NOT_FOUND" });
    expect(lines()).to.deep.equal([`DELETE /keys/${ID}`, `DELETE /keys/${ID}`, "DELETE /keys/a%2Fb"]);
  });

  it("are refused if the answer is not JSON", async () => {
    const broken = await ScriptedHttpMember.start((response) => response.end("<html>"));
    const options = { endpoints: ["127.0.0.1:1"], httpEndpoints: [broken.url], credentials: { token: "t" } };
    const other = createClient(options);
    try {
      expect(await failure(other.keys.revoke(ID))).to.include({ code: "INTERNAL" });
    } finally {
      other.close();
      await broken.stop();
    }
  });
});
