import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { FoundedCluster, RawConnection, secrets } from "../../../../test/index.ts";
import { Access, DEFAULT_RATE_LIMITS, type RateLimiters, rateLimiters } from "../../../access/index.ts";
import { CoordinationError } from "../../../state/index.ts";
import { TokenMethods } from "../../methods/index.ts";
import { tokenExchangeRoute } from "../accounts/index.ts";
import { createHealthApplication, createHttpApplication } from "./application.ts";
import type { Check } from "./health.ts";
import { closeHttpServer, createHttpServer } from "./server.ts";

const OK: Check = { name: "event-loop", ok: true, reason: "" };
const NO_CONTACT: Check = { name: "leader-contact", ok: false, reason: "no leader heard for 7 s" };

/** Answers that are ready made. */
const FILES = ["/openapi.json", "/metrics"];

describe("HTTP interface", () => {
  let cluster: FoundedCluster;
  let access: Access;
  let live: readonly Check[];
  let ready: readonly Check[];
  let bugs: unknown[];
  let limiters: RateLimiters;
  let server: Server;
  let port: number;
  const metrics = {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    metrics: () => Promise.resolve("quoin_answers 42\n"),
  };

  beforeEach(async () => {
    cluster = new FoundedCluster();
    access = new Access(cluster, cluster.clock);
    live = [OK];
    ready = [OK, { ...NO_CONTACT, ok: true, reason: "" }];
    bugs = [];
    metrics.metrics = () => Promise.resolve("quoin_answers 42\n");
    const health = { live: () => live, ready: () => ready };
    const reportBug = (error: unknown) => bugs.push(error);
    limiters = rateLimiters(DEFAULT_RATE_LIMITS, cluster.clock);
    const { tokenFailures, loginFailures } = limiters;
    const logins = { login: () => expect.fail("only API keys are exchanged here") };
    const routes = [tokenExchangeRoute(new TokenMethods({ access, logins, tokenFailures, loginFailures }), limiters)];
    const options = { access, clock: cluster.clock, limiters, health, metrics, reportBug, routes };
    await serve(createHttpServer(createHttpApplication(options)));
  });

  afterEach(async () => {
    await closeHttpServer(server, 0);
    expect(bugs).to.deep.equal([]);
  });

  async function serve(next: Server): Promise<void> {
    server = next.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }

  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    expect(response.headers.get("API-Version"), path).to.equal("v1");
    expect(response.headers.get("X-Powered-By")).to.equal(null);
    expect(response.headers.has("ETag"), path).to.equal(FILES.includes(path) && response.ok);
    return response;
  }

  /** POST /auth/token with a body, as JSON unless it is text already. */
  function exchange(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return call("/auth/token", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" || body instanceof Buffer ? body : JSON.stringify(body),
    });
  }

  async function expectError(response: Response, status: number, code: string): Promise<string> {
    expect(response.headers.get("Content-Type")).to.equal("application/json; charset=utf-8");
    const body = (await response.json()) as { error: string; code: string };
    expect([response.status, body.code]).to.deep.equal([status, code]);
    expect(Object.keys(body)).to.deep.equal(["error", "code"]);
    expect(body.error).not.to.equal("");
    return body.error;
  }

  describe("POST /auth/token", () => {
    it("exchanges an API key for a token that authenticates", async () => {
      const response = await exchange({ api_key: secrets.apiKey });
      expect(response.status).to.equal(200);
      expect(response.headers.get("Cache-Control")).to.equal("no-store");
      expect(response.headers.get("Content-Type")).to.equal("application/json; charset=utf-8");
      const body = (await response.json()) as { access_token: string };
      expect({ ...body, access_token: "" }).to.deep.equal({ access_token: "", expires_in: 3600, token_type: "Bearer" });
      const { principal } = await access.authenticate([`Bearer ${body.access_token}`], 0);
      expect(principal).to.deep.equal({ subject: cluster.ownerId, apiKeyId: cluster.apiKeyId });
    });

    for (const [asked, given] of [
      [null, 3600],
      [60, 60],
      [86_401, 86_400],
    ] as const) {
      it(`gives ${given} s for expires_in_secs ${asked}`, async () => {
        const response = await exchange({ api_key: secrets.apiKey, expires_in_secs: asked });
        expect(await response.json()).to.include({ expires_in: given });
      });
    }

    for (const number of ["9007199254740992", "9007199254740993", "9223372036854775807", "1e18", "86401.0"]) {
      it(`reduces an int64 to a day: ${number}`, async () => {
        const response = await exchange(`{"api_key":${JSON.stringify(secrets.apiKey)},"expires_in_secs":${number}}`);
        expect(await response.json()).to.include({ expires_in: 86_400 });
      });
    }

    for (const number of ["-9223372036854775808", "-9007199254740993", "9223372036854786048", "1e19", "0.5"]) {
      it(`refuses anything but an int64 from 1: ${number}`, async () => {
        const response = await exchange(`{"api_key":${JSON.stringify(secrets.apiKey)},"expires_in_secs":${number}}`);
        const problem = await expectError(response, 400, "invalid_request");
        expect(problem).to.include("expires_in_secs").and.to.include("from 1 to 2^63 - 1");
      });
    }

    it("has the real lifetime in expires_in if the key itself expires earlier", async () => {
      cluster.changeApiKey({ expiresAtMs: cluster.clock.wall + 90_000 });
      const response = await exchange({ api_key: secrets.apiKey, expires_in_secs: 3600 });
      expect(await response.json()).to.include({ expires_in: 90 });
    });

    for (const [name, hint] of [
      ["__proto__", ": the body has api_key, expires_in_secs"],
      ["constructor", ": the body has api_key, expires_in_secs"],
      ["expiresInSecs", "; did you mean expires_in_secs?"],
    ] as const) {
      it(`refuses fields that it does not know, such as ${name}`, async () => {
        const response = await exchange(
          `{"api_key":${JSON.stringify(secrets.apiKey)},"${name}":{"expires_in_secs":5}}`,
        );
        const message = await expectError(response, 400, "invalid_request");
        expect(message).to.include(`${name} is unknown${hint}`);
      });
    }

    it("does not take a field from __proto__ (S19)", async () => {
      const response = await exchange(`{"__proto__":{"api_key":${JSON.stringify(secrets.apiKey)}}}`);
      expect(await expectError(response, 400, "invalid_request")).to.include("api_key");
    });

    for (const type of ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "application/json;x=y"]) {
      it(`takes the media type ${type}`, async () => {
        expect((await exchange({ api_key: secrets.apiKey }, { "Content-Type": type })).status).to.equal(200);
      });
    }

    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-16",
      "json",
    ]) {
      it(`answers 415 to the media type ${type}`, async () => {
        await expectError(
          await exchange({ api_key: secrets.apiKey }, { "Content-Type": type }),
          415,
          "unsupported_media_type",
        );
      });
    }

    it("treats a missing media type as the right one", async () => {
      const body = Buffer.from(JSON.stringify({ api_key: secrets.apiKey }));
      expect((await call("/auth/token", { method: "POST", body })).status).to.equal(200);
    });

    it("answers 415 to an empty media type and to an encoded body", async () => {
      const empty = await exchange({ api_key: secrets.apiKey }, { "Content-Type": "" });
      await expectError(empty, 415, "unsupported_media_type");
      const coded = await exchange({ api_key: secrets.apiKey }, { "Content-Encoding": "gzip" });
      await expectError(coded, 415, "unsupported_media_type");
    });

    const badBodies: readonly (readonly [string, unknown, string])[] = [
      ["nothing", "", "JSON"],
      ["half a body", '{"api_key":', "JSON"],
      ["two values", "{} {}", "JSON"],
      ["bad UTF-8", Buffer.from('{"api_key":"\xff"}', "latin1"), "UTF-8"],
      ["a list", [], "object"],
      ["null", null, "object"],
      ["a text", JSON.stringify("hello"), "object"],
      ["no api_key", {}, "api_key"],
      ["a null api_key", { api_key: null }, "api_key"],
      ["a number as api_key", { api_key: 1 }, "api_key"],
      ["a text as expires_in_secs", { api_key: "x", expires_in_secs: "60" }, "expires_in_secs"],
      ["a list as expires_in_secs", { api_key: "x", expires_in_secs: [60] }, "expires_in_secs"],
      ["false as expires_in_secs", { api_key: "x", expires_in_secs: false }, "expires_in_secs"],
      ["0 as expires_in_secs", { api_key: "x", expires_in_secs: 0 }, "expires_in_secs"],
      ["-1 as expires_in_secs", { api_key: "x", expires_in_secs: -1 }, "expires_in_secs"],
      ["a fraction as expires_in_secs", { api_key: "x", expires_in_secs: 1.5 }, "expires_in_secs"],
    ];
    for (const [name, body, named] of badBodies) {
      it(`answers 400 to ${name}`, async () => {
        expect(await expectError(await exchange(body), 400, "invalid_request")).to.include(named);
      });
    }

    it("does not repeat contents of the body", async () => {
      const secret = "qk_abcdefgh_nobody-should-read-this";
      for (const body of [`{"api_key":"${secret}"`, `"${secret}"`, `{"api_key":["${secret}"]}`, { api_key: secret }]) {
        expect(await (await exchange(body)).text()).not.to.include("nobody");
      }
    });

    it("has the same 401 for every key that gives no token", async () => {
      const answers = new Set<string>();
      const ask = async (apiKey: string) => {
        const response = await exchange({ api_key: apiKey });
        expect(response.headers.get("WWW-Authenticate")).to.equal("Bearer");
        answers.add(await expectError(response, 401, "invalid_api_key"));
      };
      await ask("hello");
      await ask(`qk_abcdefgh_${"0".repeat(43)}`);
      await ask(`${secrets.apiKey.slice(0, 12)}${"0".repeat(43)}`);
      cluster.changeApiKey({ revokedAtMs: 1 });
      await ask(secrets.apiKey);
      cluster.changeApiKey({ revokedAtMs: 0, expiresAtMs: cluster.clock.wall });
      await ask(secrets.apiKey);
      cluster.changeApiKey({ expiresAtMs: 0 });
      cluster.changeOwner({ status: "disabled" });
      await ask(secrets.apiKey);
      expect(answers.size).to.equal(1);
    });

    it("limits wrong keys of an address by their prefix, and never a valid one", async () => {
      const { requests } = DEFAULT_RATE_LIMITS.tokenFailures;
      const wrong = { api_key: `${secrets.apiKey.slice(0, 12)}${"0".repeat(43)}` };
      for (let failures = 0; failures < requests; failures++) {
        await expectError(await exchange(wrong), 401, "invalid_api_key");
      }
      const response = await exchange(wrong);
      expect(response.headers.get("Retry-After")).to.equal("1");
      await expectError(response, 429, "rate_limited");
      expect((await exchange({ api_key: secrets.apiKey })).status).to.equal(200);
      await expectError(await exchange({ api_key: `qk_00000000_${"0".repeat(43)}` }), 401, "invalid_api_key");
      cluster.clock.monotonic += 1000;
      await expectError(await exchange(wrong), 401, "invalid_api_key");
    });

    it("limits malformed keys as one prefix", async () => {
      for (let failures = 0; failures < DEFAULT_RATE_LIMITS.tokenFailures.requests; failures++) {
        await expectError(await exchange({ api_key: `hello ${failures}` }), 401, "invalid_api_key");
      }
      await expectError(await exchange({ api_key: "hello" }), 429, "rate_limited");
    });

    it("limits the requests of an address before it reads them", async () => {
      for (let taken = 0; taken < DEFAULT_RATE_LIMITS.tokenRequests.burst - 1; taken++) {
        limiters.tokenRequests.take("127.0.0.1");
      }
      const last = await exchange({ api_key: secrets.apiKey });
      expect([last.status, last.headers.get("RateLimit")]).to.deep.equal([200, '"address";r=0;t=60']);
      expect(last.headers.get("RateLimit-Policy")).to.equal('"address";q=1200;w=60');
      const response = await exchange("no JSON", { "Content-Type": "text/plain" });
      expect(response.headers.get("Retry-After")).to.equal("1");
      await expectError(response, 429, "rate_limited");
      expect((await call("/livez")).status).to.equal(200);
    });

    it("answers 503 without a leader, and says when to retry", async () => {
      cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader is known"));
      const response = await exchange({ api_key: secrets.apiKey });
      expect(response.headers.get("Retry-After")).to.equal("1");
      expect(await expectError(response, 503, "unavailable")).to.equal("no leader is known");
    });

    it("answers 503 when its time is up, 10 s after the body: there was nothing to execute", async () => {
      cluster.onBarrier = (done) =>
        done(new CoordinationError("DEADLINE", "no answer in time", { outcome: "unknown" }));
      await expectError(await exchange({ api_key: secrets.apiKey }), 503, "unavailable");
      expect(cluster.barriers).to.deep.equal([cluster.clock.monotonicMs() + 10_000]);
      const document = (await (await call("/openapi.json")).json()) as { paths: Record<string, unknown> };
      expect(document).not.to.have.nested.property("paths./auth/token.post.responses.504");
    });

    it("answers 500 to a bug, without details, and reports it", async () => {
      const bug = new TypeError("secret detail");
      cluster.readBarrier = () => {
        throw bug;
      };
      const message = await expectError(await exchange({ api_key: secrets.apiKey }), 500, "internal_error");
      expect(message).not.to.include("secret");
      expect(bugs.splice(0)).to.deep.equal([bug]);
    });

    it("takes a body of exactly 64 KiB, and no more", async () => {
      const padded = (length: number) => {
        const body = JSON.stringify({ api_key: secrets.apiKey });
        return body.padEnd(length);
      };
      expect((await exchange(padded(65_536))).status).to.equal(200);
      await expectError(await exchange(padded(65_537)), 413, "payload_too_large");
    });
  });

  describe("bodies on the wire", () => {
    const head = (headers: string) =>
      `POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

    it("are refused without waiting when they are announced too large", async () => {
      const connection = await RawConnection.open(port);
      connection.send(head("Content-Length: 99999999"));
      expect(await connection.until(/\}$/)).to.match(/^HTTP\/1\.1 413 [\s\S]*"code":"payload_too_large"\}$/);
      connection.destroy();
    });

    it("S45: are counted while they arrive in chunks, and answered before they end", async () => {
      const connection = await RawConnection.open(port);
      connection.send(head("Transfer-Encoding: chunked"));
      for (let sent = 0; sent < 5; sent++) {
        connection.send(`4000\r\n${"x".repeat(0x4000)}\r\n`);
      }
      expect(await connection.until(/\}$/)).to.match(/^HTTP\/1\.1 413 [\s\S]*"code":"payload_too_large"\}$/);
      // The connection stays usable: the rest of the body is discarded.
      connection.send(`4000\r\n${"x".repeat(0x4000)}\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await connection.until(/ok\n$/)).to.match(/HTTP\/1\.1 200 OK/);
      connection.destroy();
    });

    it("may arrive in many small chunks", async () => {
      const connection = await RawConnection.open(port);
      connection.send(head("Transfer-Encoding: chunked"));
      for (const character of JSON.stringify({ api_key: secrets.apiKey })) {
        connection.send(`1\r\n${character}\r\n`);
      }
      connection.send("0\r\n\r\n");
      expect(await connection.until(/\}$/)).to.match(/^HTTP\/1\.1 200 [\s\S]*"token_type":"Bearer"\}$/);
      connection.destroy();
    });

    it("that break off are not reported as bugs", async () => {
      const connection = await RawConnection.open(port);
      const [accepted] = await Promise.all([once(server, "request"), connection.send(head("Content-Length: 100"))]);
      const ended = once(accepted[1], "close");
      connection.send('{"api_key":');
      connection.destroy();
      await ended;
      expect((await call("/livez")).status).to.equal(200);
    });
  });

  it("survives a client that leaves before its answer", async () => {
    const held = new Promise<(error: null) => void>((resolve) => {
      cluster.onBarrier = resolve;
    });
    const connection = await RawConnection.open(port);
    const accepted = once(server, "request");
    const body = JSON.stringify({ api_key: secrets.apiKey });
    connection.send(
      `POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const [, response] = await accepted;
    const done = await held;
    const left = once(response, "close");
    connection.destroy();
    await left;
    done(null);
    expect((await call("/livez")).status).to.equal(200);
  });

  describe("health", () => {
    it("is 200 while all checks are ok", async () => {
      for (const path of ["/livez", "/readyz", "/healthz"]) {
        const response = await call(path);
        expect([response.status, await response.text()], path).to.deep.equal([200, "ok\n"]);
        expect(response.headers.get("Cache-Control")).to.equal("no-store");
      }
    });

    it("lists its checks on request", async () => {
      const response = await call("/readyz?verbose");
      expect(response.headers.get("Content-Type")).to.equal("text/plain; charset=utf-8");
      expect(await response.text()).to.equal("[+]event-loop ok\n[+]leader-contact ok\n");
      expect(await (await call("/livez?verbose=1")).text()).to.equal("[+]event-loop ok\n");
    });

    it("is 503 only for readiness when only readiness fails", async () => {
      ready = [OK, NO_CONTACT];
      for (const path of ["/readyz", "/healthz"]) {
        const response = await call(path);
        expect(response.headers.get("Retry-After")).to.equal("1");
        const message = await expectError(response, 503, "unavailable");
        expect(message).to.equal(`${path} failed: leader-contact (no leader heard for 7 s)`);
        const verbose = await call(`${path}?verbose`);
        expect([verbose.status, verbose.headers.get("Retry-After")]).to.deep.equal([503, "1"]);
        expect(await verbose.text()).to.equal("[+]event-loop ok\n[-]leader-contact failed: no leader heard for 7 s\n");
      }
      expect((await call("/livez")).status).to.equal(200);
    });

    it("is 503 only for liveness when only liveness fails", async () => {
      live = [{ ...OK, ok: false, reason: "stopped" }];
      await expectError(await call("/livez"), 503, "unavailable");
      expect((await call("/readyz")).status).to.equal(200);
    });

    it("answers HEAD without a body", async () => {
      const response = await call("/readyz", { method: "HEAD" });
      expect([response.status, await response.text()]).to.deep.equal([200, ""]);
    });

    it("returns metrics without a token, for GET and HEAD only", () => expectMetrics());

    it("limits what an address may ask for without a token, by one limit for all of it", async () => {
      for (let requests = 0; requests < DEFAULT_RATE_LIMITS.openRequests.burst - 3; requests++) {
        limiters.openRequests.take("127.0.0.1");
      }
      expect((await call("/metrics")).headers.get("RateLimit")).to.equal('"address";r=2;t=10');
      await expectError(await call("/nothing"), 404, "not_found");
      await call("/openapi.json");
      for (const path of ["/metrics", "/openapi.json", "/docs", "/console", "/nothing"]) {
        const refused = await call(path);
        await expectError(refused, 429, "rate_limited");
        expect(refused.headers.get("Retry-After"), path).to.equal("1");
      }
      expect((await call("/livez")).status, "a load balancer is told the truth").to.equal(200);
      await expectError(await exchange({ api_key: "qk_wrong" }), 401, "invalid_api_key");
    });

    it("repeats only the beginning of a long path", async () => {
      const message = await expectError(await call(`/${"x".repeat(5_000)}`), 404, "not_found");
      expect(message).to.have.length.below(200);
    });

    it("makes the metrics once for all who ask within a tenth of a second, and compresses them", async () => {
      let made = 0;
      metrics.metrics = async () => `quoin_answers ${++made}\n`;
      const texts = await Promise.all([1, 2, 3].map(async () => (await call("/metrics")).text()));
      expect(texts).to.deep.equal(Array(3).fill("quoin_answers 1\n"));
      cluster.clock.monotonic += 99;
      const told = await call("/metrics", { headers: { "Accept-Encoding": "gzip" } });
      expect([told.headers.get("Content-Encoding"), await told.text()]).to.deep.equal(["gzip", "quoin_answers 1\n"]);
      cluster.clock.monotonic += 1;
      expect(await (await call("/metrics")).text()).to.equal("quoin_answers 2\n");
    });

    it("tries again after the metrics could not be made", async () => {
      metrics.metrics = () => Promise.reject(new TypeError("a bug"));
      await expectError(await call("/metrics"), 500, "internal_error");
      expect(bugs.splice(0).map(String)).to.deep.equal(["TypeError: a bug"]);
      metrics.metrics = () => Promise.resolve("");
      expect((await call("/metrics")).status).to.equal(200);
    });

    async function expectMetrics(): Promise<void> {
      const told = await call("/metrics");
      expect([told.status, await told.text()]).to.deep.equal([200, "quoin_answers 42\n"]);
      expect(told.headers.get("Content-Type")).to.equal(metrics.contentType);
      expect(told.headers.get("Cache-Control")).to.equal("no-store");
      const posted = await call("/metrics", { method: "POST" });
      expect(posted.headers.get("Allow")).to.equal("GET, HEAD");
      await expectError(posted, 405, "method_not_allowed");
    }

    it("has its own port, which also serves startup and metrics, and nothing else", async () => {
      await closeHttpServer(server, 0);
      let started: readonly Check[] = [{ name: "listening", ok: false, reason: "not yet" }];
      const health = { started: () => started, live: () => live, ready: () => ready };
      const reportBug = (error: unknown) => bugs.push(error);
      const options = { access, clock: cluster.clock, limiters, health, metrics, reportBug };
      await serve(createHttpServer(createHealthApplication(options)));
      await expectMetrics();
      ready = [NO_CONTACT];
      await expectError(await call("/startupz"), 503, "unavailable");
      started = [];
      expect((await call("/startupz")).status).to.equal(200);
      expect((await call("/livez")).status).to.equal(200);
      await expectError(await call("/readyz"), 503, "unavailable");
      await expectError(await exchange({ api_key: secrets.apiKey }), 404, "not_found");
    });
  });

  describe("everything else", () => {
    for (const path of [
      "/",
      "/auth",
      "/auth/token/",
      "/Auth/Token",
      "/auth/token/x",
      "/v1/auth/token",
      "/livez/",
      "/LIVEZ",
      "/__proto__",
      "/%",
    ]) {
      it(`is 404: ${path}`, async () => {
        await expectError(await call(path), 404, "not_found");
        await expectError(await call(path, { method: "POST", body: "x" }), 404, "not_found");
      });
    }

    for (const [path, method, allow] of [
      ["/auth/token", "GET", "POST"],
      ["/auth/token", "PUT", "POST"],
      ["/auth/token", "DELETE", "POST"],
      ["/auth/token", "OPTIONS", "POST"],
      ["/livez", "POST", "GET, HEAD"],
      ["/readyz", "OPTIONS", "GET, HEAD"],
      ["/healthz", "PATCH", "GET, HEAD"],
    ] as const) {
      it(`is 405: ${method} ${path}`, async () => {
        const response = await call(path, { method });
        expect(response.headers.get("Allow")).to.equal(allow);
        expect(await expectError(response, 405, "method_not_allowed")).to.include(method);
      });
    }

    it("is 405 for HEAD of a path without GET", async () => {
      const response = await call("/auth/token", { method: "HEAD" });
      expect([response.status, response.headers.get("Allow")]).to.deep.equal([405, "POST"]);
    });

    it("is 400 without a Host", async () => {
      const connection = await RawConnection.open(port);
      connection.send("GET /livez HTTP/1.1\r\n\r\n");
      expect(await connection.until(/\}$/)).to.match(
        /^HTTP\/1\.1 400 [\s\S]*API-Version: v1[\s\S]*"code":"invalid_request"\}$/,
      );
      connection.destroy();
    });
  });
});
