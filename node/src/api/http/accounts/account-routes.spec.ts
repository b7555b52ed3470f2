import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { SingleReplica } from "../../../../test/harness/index.ts";
import { cheapHashing, FoundedCluster, secrets } from "../../../../test/index.ts";
import { Access, DEFAULT_RATE_LIMITS, type RateLimits, rateLimiters } from "../../../access/index.ts";
import { accountMethods, Executor } from "../../methods/index.ts";
import { ClientAddresses, TrustedProxies } from "../requests/index.ts";
import { closeHttpServer, createHttpApplication, createHttpServer } from "../server/index.ts";
import { accountRoutes } from "./account-routes.ts";

/** Trusts this machine as a proxy. */
const PROXIES = { trusted: new TrustedProxies(["127.0.0.1"]), speaksProxyProtocol: false };
const PASSWORD = "correct horse battery";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the spec checks each body.
  readonly body: any;
}

describe("routes of accounts", () => {
  let cluster: FoundedCluster;
  let server: Server;
  let port: number;
  let bugs: unknown[];
  let limits: RateLimits;
  /** Tokens by the address to which they were sent. */
  let mails: Map<string, string>;
  let owner: string;
  /** Reads that were reported for the usage, by caller. */
  let reads: string[];
  let mail: { canSend: boolean } & Omit<Parameters<typeof accountMethods>[0]["mail"], "canSend">;

  beforeEach(async () => {
    cluster = new FoundedCluster();
    const { clock } = cluster;
    const access = new Access(cluster, clock);
    const health = { live: () => [], ready: () => [] };
    const metrics = { contentType: "text/plain", metrics: () => Promise.resolve("") };
    mails = new Map();
    [bugs, reads] = [[], []];
    limits = { ...DEFAULT_RATE_LIMITS };
    const limiters = rateLimiters(limits, clock);
    const send = (_userId: string, email: string, token: string) => void mails.set(email, token);
    mail = { canSend: true, sendVerification: send, sendPasswordReset: send };
    const member = { replica: new SingleReplica(cluster) };
    const executor = new Executor(member, ({ subject }, area) => void reads.push(`${area} of ${subject}`));
    const hashing = cheapHashing;
    const accounts = { member, replicated: cluster, access, executor, clock, limits, limiters, mail, hashing };
    const routes = accountRoutes(accountMethods(accounts), limiters, cluster);
    const reportBug = (error: unknown) => bugs.push(error);
    const application = createHttpApplication({
      access,
      clock,
      limiters,
      health,
      metrics,
      reportBug,
      routes,
      clients: new ClientAddresses(PROXIES),
    });
    server = createHttpServer(application).listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
    owner = (await ask("POST /auth/token", { api_key: secrets.apiKey })).body.access_token;
  });

  afterEach(async () => {
    await closeHttpServer(server, 0);
    expect(bugs).to.deep.equal([]);
  });

  async function ask(line: string, body?: unknown, token?: string, client?: string): Promise<Answer> {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(client === undefined ? {} : { "X-Forwarded-For": client }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async function refusal(answer: Promise<Answer>): Promise<string> {
    const { status, headers, body } = await answer;
    expect(Object.keys(body)).to.deep.equal(["error", "code"]);
    expect(headers.has("WWW-Authenticate"), "a challenge").to.equal(status === 401);
    return `${status} ${body.code}`;
  }

  /** A user with a verified address. */
  async function createUser(email: string, changes: object = {}): Promise<string> {
    const created = await ask("POST /users", userOf(email, changes), owner);
    expect(created.status).to.equal(201);
    expect((await ask("POST /auth/verify", { token: mails.get(email) })).body).to.deep.equal({ verified: true });
    return created.body.user_id;
  }

  async function logIn(email: string): Promise<string> {
    const { status, body } = await ask("POST /auth/login", { email, password: PASSWORD });
    expect(status).to.equal(200);
    return body.access_token;
  }

  function userOf(email: string, changes: object = {}): object {
    return { email, password: PASSWORD, role: "member", namespaces: ["default"], ...changes };
  }

  describe("POST /auth/login", () => {
    it("returns a token and its user", async () => {
      const answer = await ask("POST /auth/login", { email: secrets.email.toUpperCase(), password: secrets.password });
      expect([answer.status, answer.headers.get("Cache-Control")]).to.deep.equal([200, "no-store"]);
      expect(answer.headers.get("RateLimit-Policy")).to.equal('"address";q=300;w=60');
      const { access_token: token, ...rest } = answer.body;
      const user = { user_id: cluster.ownerId, email: secrets.email, role: "owner", namespaces: ["*"] };
      expect(rest).to.deep.equal({ expires_in: 3_600, token_type: "Bearer", user });
      expect((await ask("GET /keys", undefined, token)).status).to.equal(200);
    });

    it("has the same answer for a wrong password and an unknown user, and 403 only after the right password", async () => {
      await ask("POST /users", userOf("ada@quoin.local"), owner);
      for (const [email, password] of [
        [secrets.email, "wrong"],
        ["nobody@quoin.local", PASSWORD],
        ["no address", PASSWORD],
        ["", ""],
        ["ada@quoin.local", "wrong"],
      ]) {
        const answer = ask("POST /auth/login", { email, password });
        expect(await refusal(answer)).to.equal("401 invalid_credentials");
        expect((await answer).headers.get("WWW-Authenticate")).to.equal("Bearer");
      }
      const answer = ask("POST /auth/login", { email: "ada@quoin.local", password: PASSWORD });
      expect(await refusal(answer)).to.equal("403 email_not_verified");
    });

    it("names a field that is missing or of another type", async () => {
      for (const [body, field] of [
        [{ password: "x" }, "email"],
        [{ email: "a@b" }, "password"],
        [{ email: 1, password: "x" }, "email"],
        [{ email: "a@b", password: null }, "password"],
      ] as const) {
        const { status, body: error } = await ask("POST /auth/login", body);
        expect([status, error.code]).to.deep.equal([400, "invalid_request"]);
        expect(error.error).to.include(field);
      }
    });

    it("limits failures of an account from one address, also in parallel, but not successes", async () => {
      Object.assign(limits, { loginFailures: { requests: 2, windowSecs: 60, burst: 2 } });
      const right = { email: secrets.email, password: secrets.password };
      const wrong = { email: secrets.email.toLowerCase(), password: "wrong" };
      for (let time = 0; time < 3; time++) {
        expect((await ask("POST /auth/login", right)).status).to.equal(200);
      }
      const answers = await Promise.all([wrong, wrong, wrong].map((body) => ask("POST /auth/login", body)));
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([401, 401, 429]);
      const refused = await ask("POST /auth/login", right);
      expect([refused.status, refused.body.code, refused.headers.get("Retry-After")]).to.deep.equal([
        ...[429, "rate_limited", "30"],
      ]);
      expect(await refusal(ask("POST /auth/login", { ...wrong, email: "other@quoin.local" }))).to.include("401");
      expect((await ask("POST /auth/login", right, undefined, "192.0.2.7")).status, "another address").to.equal(200);
      cluster.clock.monotonic += 30_000;
      expect((await ask("POST /auth/login", right)).status).to.equal(200);
    });

    it("limits the requests of an address, including verifications", async () => {
      Object.assign(limits, { loginRequests: { requests: 2, windowSecs: 60, burst: 2 } });
      await ask("POST /auth/login", {});
      await ask("POST /auth/verify", {});
      expect(await refusal(ask("POST /auth/login", {}))).to.equal("429 rate_limited");
      expect(await refusal(ask("POST /auth/verify", {}))).to.equal("429 rate_limited");
    });
  });

  describe("POST /auth/verify", () => {
    it("takes the token that was sent, once, and a password if none is set", async () => {
      await ask("POST /users", userOf("ada@quoin.local", { password: null }), owner);
      const token = mails.get("ada@quoin.local");
      for (const body of [{}, { token: "x" }, { token }, { token, password: "short" }, { token, password: 7 }]) {
        expect(await refusal(ask("POST /auth/verify", body))).to.equal("400 invalid_request");
      }
      const verified = await ask("POST /auth/verify", { token, password: PASSWORD });
      expect([verified.status, verified.body]).to.deep.equal([200, { verified: true }]);
      expect(verified.headers.get("Cache-Control")).to.equal("no-store");
      expect(await refusal(ask("POST /auth/verify", { token, password: PASSWORD }))).to.equal("400 invalid_request");
      await logIn("ada@quoin.local");
    });
  });

  describe("POST /auth/reset", () => {
    it("sends a token for POST /auth/verify, and has the same answer for an unknown address", async () => {
      const email = "ada@quoin.local";
      await createUser(email);
      mails.clear();
      for (const address of [email.toUpperCase(), "nobody@quoin.local"]) {
        const answer = await ask("POST /auth/reset", { email: address });
        expect([answer.status, answer.body]).to.deep.equal([200, { requested: true }]);
        expect(answer.headers.get("Cache-Control")).to.equal("no-store");
      }
      expect([...mails.keys()]).to.deep.equal([email]);
      const password = `${PASSWORD} 2`;
      const verified = await ask("POST /auth/verify", { token: mails.get(email), password });
      expect(verified.body).to.deep.equal({ verified: true });
      expect((await ask("POST /auth/login", { email, password })).status).to.equal(200);
    });

    it("names the bad field, counts against the limit of logins, and says when no mail can be sent", async () => {
      for (const body of [{}, { email: "x" }, { email: 7 }, { email: "a@b.c", password: "x" }]) {
        expect(await refusal(ask("POST /auth/reset", body))).to.equal("400 invalid_request");
      }
      mail.canSend = false;
      expect(await refusal(ask("POST /auth/reset", { email: "a@quoin.local" }))).to.equal("501 not_served");
      Object.assign(limits, { loginRequests: { requests: 1, windowSecs: 60, burst: 1 } });
      expect(await refusal(ask("POST /auth/reset", {}))).to.equal("429 rate_limited");
    });
  });

  describe("/keys", () => {
    it("creates, lists and revokes keys", async () => {
      cluster.clock.wall++;
      const name = `<b>'; DROP TABLE "keys"; --\u0000\u{1F600}`;
      const made = await ask("POST /keys", { name, expires_in_days: 3_650 }, owner);
      expect([made.status, made.headers.get("Cache-Control")]).to.deep.equal([201, "no-store"]);
      const created = new Date(cluster.clock.wall);
      const { api_key_id: id, key } = made.body;
      const shown = { api_key_id: id, name, created_at: created.toISOString() };
      const expiresAt = new Date(cluster.clock.wall + 3_650 * 86_400_000).toISOString();
      expect(id).to.match(UUID);
      expect(made.body).to.deep.equal({ ...shown, key, expires_at: expiresAt });
      const token = (await ask("POST /auth/token", { api_key: key })).body.access_token;
      const listed = await ask("GET /keys?limit=1000&include_revoked=true&all=true", undefined, token);
      expect(listed.status).to.equal(200);
      expect(listed.body.next_cursor).to.equal(null);
      expect(listed.body.keys).to.deep.include({
        ...shown,
        key_prefix: key.slice(0, 11),
        expires_at: expiresAt,
        last_used_at: null,
        revoked_at: null,
      });
      const revoked = await ask(`DELETE /keys/${id.toUpperCase()}`, undefined, token);
      const body = { api_key_id: id, revoked: true, revoked_at: created.toISOString() };
      expect([revoked.status, revoked.body]).to.deep.equal([200, body]);
      expect((await ask(`DELETE /keys/${id}`, undefined, owner)).body).to.deep.equal(body);
      expect(await refusal(ask("GET /keys", undefined, token))).to.equal("401 token_revoked");
      expect(await refusal(ask("POST /auth/token", { api_key: key }))).to.equal("401 invalid_api_key");
    });

    it("continues after the end of a page", async () => {
      cluster.clock.wall++;
      await ask("POST /keys", { name: "second" }, owner);
      const first = await ask("GET /keys?limit=1", undefined, owner);
      const next = `GET /keys?limit=1&cursor=${encodeURIComponent(first.body.next_cursor)}`;
      const second = await ask(next, undefined, owner);
      const names = [first, second].map(({ body }) => body.keys.map((key: { name: string }) => key.name));
      expect([names, second.body.next_cursor]).to.deep.equal([[["owner"], ["second"]], null]);
      expect(await refusal(ask(`${next}&include_revoked=1`, undefined, owner))).to.equal("400 invalid_request");
    });

    it("refuses in the order of the contract", async () => {
      await createUser("eve@quoin.local", { role: "viewer" });
      await createUser("ada@quoin.local");
      const [viewer, member] = [await logIn("eve@quoin.local"), await logIn("ada@quoin.local")];
      for (const [line, body, token, expected] of [
        ["PUT /keys", {}, undefined, "405 method_not_allowed"],
        ["POST /keys", "no object", undefined, "401 unauthorized"],
        ["POST /keys", { name: "" }, viewer, "403 insufficient_role"],
        ["GET /keys?limit=0", undefined, viewer, "400 invalid_request"],
        ["GET /keys?all=true", undefined, viewer, "403 insufficient_role"],
        ["DELETE /keys/1", undefined, viewer, "400 invalid_request"],
        [`DELETE /keys/${cluster.apiKeyId}`, undefined, viewer, "404 key_not_found"],
        ["GET /keys?limit=1001", undefined, member, "400 invalid_request"],
        ["GET /keys?cursor=x", undefined, member, "400 invalid_request"],
        ["GET /keys?all=true", undefined, member, "403 insufficient_role"],
        [`GET /keys?user_id=${cluster.ownerId}`, undefined, member, "403 insufficient_role"],
        ["GET /keys?user_id=1", undefined, member, "400 invalid_request"],
        ["POST /keys", { name: "" }, member, "400 invalid_request"],
        ["POST /keys", { name: "x".repeat(129) }, member, "400 invalid_request"],
        ["POST /keys", { name: "x".repeat(65_536) }, member, "413 payload_too_large"],
        ["POST /keys", { name: "x", expires_in_days: 3_651 }, member, "400 invalid_request"],
        ["POST /keys", { name: "x", expires_in_days: "1" }, member, "400 invalid_request"],
        ["DELETE /keys/1", undefined, member, "400 invalid_request"],
        [`DELETE /keys/${cluster.apiKeyId}`, undefined, member, "404 key_not_found"],
        [`DELETE /keys/${randomUUID()}`, undefined, owner, "404 key_not_found"],
      ] as const) {
        expect(await refusal(ask(line, body, token)), line).to.equal(expected);
      }
    });
  });

  describe("/users", () => {
    it("creates, describes, lists, changes and deletes users", async () => {
      const created = await ask("POST /users", userOf("Ada@quoin.local", { password: null }), owner);
      const user = {
        user_id: created.body.user_id,
        email: "Ada@quoin.local",
        role: "member",
        namespaces: ["default"],
        status: "unverified",
        created_at: new Date(cluster.clock.wall).toISOString(),
      };
      expect([created.status, created.body]).to.deep.equal([201, user]);
      const path = `/users/${user.user_id}`;
      expect((await ask(`GET ${path}`, undefined, owner)).body).to.deep.equal(user);
      await ask("POST /auth/verify", { token: mails.get(user.email), password: PASSWORD });
      const changes = { role: "admin", namespaces: ["a", "b"], status: "disabled", email: null };
      const changed = await ask(`PATCH ${path}`, changes, owner);
      const expected = { ...user, role: "admin", namespaces: ["a", "b"], status: "disabled" };
      expect([changed.status, changed.body]).to.deep.equal([200, expected]);
      const listed = await ask("GET /users", undefined, owner);
      expect(listed.body.users).to.deep.include(expected);
      expect(listed.body).to.include({ next_cursor: null });
      const deleted = await ask(`DELETE ${path}`, undefined, owner);
      expect([deleted.status, deleted.body]).to.deep.equal([200, { user_id: user.user_id, deleted: true }]);
      expect(await refusal(ask(`GET ${path}`, undefined, owner))).to.equal("404 user_not_found");
    });

    it("creates a user again after a lost mail, and then takes only the newer token", async () => {
      const email = "ada@quoin.local";
      const first = await ask("POST /users", userOf(email), owner);
      const lost = mails.get(email);
      expect((await ask(`DELETE /users/${first.body.user_id}`, undefined, owner)).status).to.equal(200);
      expect((await ask("POST /users", userOf(email), owner)).status).to.equal(201);
      expect(await refusal(ask("POST /auth/verify", { token: lost }))).to.equal("400 invalid_request");
      expect((await ask("POST /auth/verify", { token: mails.get(email) })).body).to.deep.equal({ verified: true });
      await logIn(email);
    });

    it("takes as many namespaces as a user may have, and the tokens still fit into a request", async () => {
      const long = Array.from({ length: 124 }, (_, at) => `${"x".repeat(59)}${String(at).padStart(4, "0")}`);
      await createUser("ada@quoin.local", { namespaces: long });
      const listed = await ask("GET /keys", undefined, await logIn("ada@quoin.local"));
      expect(listed.status).to.equal(200);
      const short = Array.from({ length: 1_000 }, (_, at) => at.toString(36).padStart(5, "0"));
      expect((await ask("POST /users", userOf("bob@quoin.local", { namespaces: short }), owner)).status).to.equal(201);
      for (const namespaces of [
        [...long, "x".repeat(63)],
        [...short, "y"],
      ]) {
        const oneMore = ask("POST /users", userOf("eve@quoin.local", { namespaces }), owner);
        expect(await refusal(oneMore)).to.equal("400 invalid_request");
      }
    });

    it("refuses in the order of the contract", async () => {
      await createUser("ada@quoin.local");
      await createUser("bob@quoin.local", { role: "admin" });
      const [member, admin] = [await logIn("ada@quoin.local"), await logIn("bob@quoin.local")];
      const eve = userOf("eve@quoin.local");
      for (const [line, body, token, expected] of [
        ["PATCH /users", {}, owner, "405 method_not_allowed"],
        ["POST /users", eve, undefined, "401 unauthorized"],
        ["POST /users", "no object", member, "403 insufficient_role"],
        ["GET /users/1", undefined, member, "403 insufficient_role"],
        ["GET /users?limit=0", undefined, admin, "400 invalid_request"],
        ["GET /users/1", undefined, admin, "400 invalid_request"],
        ["POST /users", { ...eve, email: "no address" }, admin, "400 invalid_request"],
        ["POST /users", { ...eve, role: "root" }, admin, "400 invalid_request"],
        ["POST /users", { ...eve, role: "owner", namespaces: ["*"] }, admin, "403 insufficient_role"],
        ["POST /users", { ...eve, namespaces: ["other"] }, admin, "403 namespace_denied"],
        ["POST /users", { ...eve, email: "ADA@quoin.local" }, admin, "409 already_exists"],
        [`PATCH /users/${randomUUID()}`, "no object", admin, "404 user_not_found"],
        [`PATCH /users/${cluster.ownerId}`, "no object", admin, "404 user_not_found"],
        [`PATCH /users/${cluster.ownerId}`, { role: "admin" }, admin, "404 user_not_found"],
        [`PATCH /users/${cluster.ownerId}`, { status: "unverified" }, owner, "400 invalid_request"],
        [`PATCH /users/${cluster.ownerId}`, { email: "x@y.z" }, owner, "400 invalid_request"],
        [`GET /users/${cluster.ownerId}`, undefined, admin, "404 user_not_found"],
        [`DELETE /users/${cluster.ownerId}`, undefined, admin, "404 user_not_found"],
        [`PATCH /users/${cluster.ownerId}`, { status: "disabled" }, owner, "409 last_owner"],
        [`DELETE /users/${cluster.ownerId}`, undefined, owner, "409 last_owner"],
        [`DELETE /users/${randomUUID()}`, undefined, owner, "404 user_not_found"],
      ] as const) {
        expect(await refusal(ask(line, body, token)), `${line} ${JSON.stringify(body)}`).to.equal(expected);
      }
    });
  });

  describe("GET /billing/usage", () => {
    it("returns the usage of the cluster to readers of all namespaces, and their own usage to other users", async () => {
      await createUser("eve@quoin.local", { role: "viewer" });
      const viewer = await logIn("eve@quoin.local");
      const own = await ask("GET /billing/usage", undefined, viewer);
      expect([own.status, own.body.totals.requests, own.body.totals.bytes_stored, own.body.buckets]).to.deep.equal([
        ...[200, 0, 0, []],
      ]);
      await createUser("max@quoin.local", { role: "viewer", namespaces: ["*"] });
      const auditor = await logIn("max@quoin.local");
      const { status, body } = await ask("GET /billing/usage?granularity=hour", undefined, auditor);
      expect(status).to.equal(200);
      const start = new Date(cluster.clock.wall);
      start.setUTCMinutes(0, 0, 0);
      expect(body.buckets.map((bucket: { start: string }) => bucket.start)).to.deep.equal([start.toISOString()]);
      expect(body.totals.requests, "the user was made by a request").to.be.at.least(1);
      expect(body.by_key, "of another user").to.deep.equal([]);
      expect(body.limits).to.deep.equal({ requests_per_minute: 1_200_000 });
      expect(body.as_of).to.equal(new Date(cluster.clock.wall).toISOString());
    });

    it("refuses in the order of the contract", async () => {
      for (const [line, token, expected] of [
        ["POST /billing/usage", undefined, "405 method_not_allowed"],
        ["GET /billing/usage?from=x", undefined, "401 unauthorized"],
        ["GET /billing/usage?from=x", owner, "400 invalid_request"],
        ["GET /billing/usage?granularity=week", owner, "400 invalid_request"],
        ["GET /billing/usage?from=2025-01-01&to=2025-04-12", owner, "400 invalid_request"],
      ] as const) {
        expect(await refusal(ask(line, undefined, token)), line).to.equal(expected);
      }
      expect((await ask("GET /billing/usage?from=2025-01-01&to=2025-04-11", undefined, owner)).status).to.equal(200);
    });
  });

  it("report each request that only reads, once, and no part of any other request", async () => {
    for (const path of ["/keys", "/users", `/users/${cluster.ownerId}`, "/billing/usage"]) {
      expect((await ask(`GET ${path}`, undefined, owner)).status).to.equal(200);
    }
    expect(reads.splice(0)).to.deep.equal(new Array(4).fill(`other of ${cluster.ownerId}`));
    expect((await ask(`PATCH /users/${cluster.ownerId}`, {}, owner)).status).to.equal(200);
    expect((await ask("POST /keys", { name: "ci" }, owner)).status).to.equal(201);
    expect(reads).to.deep.equal([]);
  });

  describe("GET /.well-known/jwks.json", () => {
    it("has the keys that verify tokens", async () => {
      const { status, body } = await ask("GET /.well-known/jwks.json");
      expect(status).to.equal(200);
      const { payload } = await jwtVerify(owner, createLocalJWKSet(body as JSONWebKeySet), {
        currentDate: new Date(cluster.clock.wall),
      });
      expect(payload.sub).to.equal(cluster.ownerId);
      expect(body.keys.map((key: object) => Object.keys(key).toSorted())).to.deep.equal([
        ["alg", "crv", "kid", "kty", "use", "x"],
      ]);
    });
  });
});
