import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import * as z from "zod";
import { FoundedCluster, RawConnection, secrets } from "../../../../test/index.ts";
import { Access, DEFAULT_RATE_LIMITS, type RateLimiters, rateLimiters } from "../../../access/index.ts";
import { CoordinationError } from "../../../state/index.ts";
import type { ResponseStream } from "../../methods/index.ts";
import { HttpError } from "../answers/index.ts";
import { flag, type HttpCall, integer, optional, ParameterProblem, required, uuid } from "../requests/index.ts";
import { closeHttpServer, createHttpApplication, createHttpServer } from "../server/index.ts";
import { type Answer, bytesBody, jsonBody, type Route, route } from "./route.ts";

const THING = "123e4567-e89b-42d3-a456-426614174000";
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const BYTES_MAX = 1000;
const MORE_THAN_SOCKETS_HOLD = 64 * 1024 * 1024;
const LIMIT = { requests: 30, windowSecs: 60, burst: 20 };
const Thing = z.strictObject({
  name: z.string().min(1).max(128),
  size: z.int().min(0).nullish(),
  parts: z.array(z.strictObject({ name: z.string() })).nullish(),
  maker: z.strictObject({ city: z.string() }).nullish(),
});

describe("declared routes", () => {
  let cluster: FoundedCluster;
  let token: string;
  let limiters: RateLimiters;
  let server: Server;
  let port: number;
  let bugs: unknown[];
  let calls: HttpCall[];
  let inputs: unknown[];
  /** The behaviour of the handler of GET /things/{thing_id}. */
  let handle: () => Answer<unknown> | Promise<Answer<unknown>>;
  let deadlineMs: number;

  beforeEach(async () => {
    cluster = new FoundedCluster();
    const access = new Access(cluster, cluster.clock);
    token = (await access.exchangeApiKey(secrets.apiKey, null, 0))?.accessToken ?? "";
    cluster.barriers.length = 0;
    [bugs, calls, inputs] = [[], [], []];
    handle = () => ({ json: {} });
    deadlineMs = 60_000;
    const health = { live: () => [], ready: () => [] };
    const reportBug = (error: unknown) => bugs.push(error);
    limiters = rateLimiters({ ...DEFAULT_RATE_LIMITS, http: LIMIT }, cluster.clock);
    const metrics = { contentType: "text/plain", metrics: () => Promise.resolve("") };
    const options = { access, clock: cluster.clock, limiters, health, metrics, reportBug };
    const application = createHttpApplication({ ...options, routes: routes() });
    server = createHttpServer(application).listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    await closeHttpServer(server, 0);
    expect(bugs).to.deep.equal([]);
  });

  function routes(): readonly Route[] {
    const took = (call: HttpCall, input: unknown) => {
      calls.push(call);
      inputs.push(input);
    };
    const base = required("A key", { type: "string", minLength: 1, maxLength: 4 }, (text) => {
      if (text.length > 4) {
        throw new ParameterProblem("must have at most 4 characters");
      }
      return text;
    });
    return [
      route({
        method: "GET",
        path: "/things/{thing_id}",
        operationId: "getThing",
        summary: "One thing",
        access: "read",
        pathParameters: { thing_id: uuid("The thing") },
        headers: { "Expected-Size": optional(integer("Its size", 0, 100), null) },
        query: { limit: optional(integer("How many", 1, 1000), 100), verbose: flag("Whether to say more") },
        success: { status: 200, description: "The thing", schema: z.object({}), types: ["text/event-stream"] },
        deadlineMs: () => deadlineMs,
        handle: (call, input) => {
          took(call, input);
          return handle();
        },
      }),
      route({
        method: "POST",
        path: "/things",
        operationId: "createThing",
        summary: "Create a thing",
        access: "admin",
        body: jsonBody(Thing),
        success: { status: 201, description: "The thing", schema: Thing },
        errors: ["already_exists"],
        handle: (call, input) => {
          took(call, input);
          return { json: input.body };
        },
      }),
      route({
        method: "POST",
        path: "/things/{thing_id}/bytes",
        operationId: "appendBytes",
        summary: "Append bytes",
        access: "token",
        pathParameters: { thing_id: uuid("The thing") },
        headers: { "Idempotency-Key": { ...base, missingCode: "missing_header" } },
        query: {
          delimiter: {
            ...base,
            badCode: "invalid_delimiter",
            read: (bytes: Buffer | undefined) => bytes?.toString("hex") ?? "none",
          },
        },
        body: bytesBody("Any bytes", BYTES_MAX),
        success: { status: 200, description: "Appended", schema: z.object({ length: z.int() }) },
        errors: ["not_found"],
        find: (_call, { path }) => {
          if (path.thing_id !== THING) {
            throw new HttpError("not_found", "there is no such thing");
          }
        },
        handle: (call, input) => {
          took(call, input);
          return { json: { length: input.body.length } };
        },
      }),
    ];
  }

  function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: `Bearer ${token}`, ...init.headers };
    return fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
  }

  async function expectError(response: Response, status: number, code: string, named = ""): Promise<void> {
    const body = (await response.json()) as { error: string; code: string };
    expect([response.status, body.code], body.error).to.deep.equal([status, code]);
    expect(body.error).to.include(named);
    expect(calls, "handlers run for what was refused").to.deep.equal([]);
  }

  /** Returns the answer to a request that is written by hand. */
  async function raw(lines: readonly string[], body = ""): Promise<string> {
    const connection = await RawConnection.open(port);
    connection.send(
      `${["Host: x", "Connection: close"].reduce((head, line) => `${head}${line}\r\n`, `${lines[0]}\r\n`)}`,
    );
    connection.send(`${lines.slice(1).join("\r\n")}${lines.length > 1 ? "\r\n" : ""}\r\n${body}`);
    const answer = await connection.untilClosed();
    connection.destroy();
    return answer;
  }

  describe("ask for a bearer token", () => {
    const challenge = 'Bearer error="invalid_token"';

    for (const [name, authorization] of [
      ["no token", ""],
      ["another scheme", "Basic YTpi"],
      ["no token after the scheme", "Bearer"],
      ["two tokens", "Bearer a b"],
      ["two spaces", "Bearer  a"],
      ["what is no token", "Bearer x"],
    ] as const) {
      it(`and refuse ${name}`, async () => {
        const response = await call(`/things/${THING}`, { headers: { Authorization: authorization } });
        expect(response.headers.get("WWW-Authenticate")).to.equal(challenge);
        await expectError(response, 401, "unauthorized");
      });
    }

    it("in the header only", async () => {
      const response = await call(`/things/${THING}?access_token=${token}`, { headers: { Authorization: "" } });
      await expectError(response, 401, "unauthorized");
      await expectError(await call(`/things/${THING}?access_token=${token}`), 401, "unauthorized");
    });

    it("and refuse a repeated one", async () => {
      const line = `Authorization: Bearer ${token}`;
      expect(await raw([`GET /things/${THING} HTTP/1.1`, line, line])).to.match(
        /^HTTP\/1\.1 401 [\s\S]*"unauthorized"/,
      );
    });

    it("and report an expired one as expired", async () => {
      cluster.clock.wall += 3_600_000;
      const response = await call(`/things/${THING}`);
      expect(response.headers.get("WWW-Authenticate")).to.equal(challenge);
      await expectError(response, 401, "token_expired");
    });

    it("and report one whose key was revoked as revoked, after a read barrier", async () => {
      cluster.changeApiKey({ revokedAtMs: 1 });
      const response = await call(`/things/${THING}`);
      expect(response.headers.get("WWW-Authenticate")).to.equal(challenge);
      await expectError(response, 401, "token_revoked");
      expect(cluster.barriers).to.deep.equal([cluster.clock.monotonicMs() + 10_000]);
    });

    it("and answer 503 if the read barrier fails", async () => {
      cluster.changeApiKey({ revokedAtMs: 1 });
      cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader is known"));
      await expectError(await call(`/things/${THING}`), 503, "unavailable");
    });

    it("and pass the caller to the handler", async () => {
      expect((await call(`/things/${THING}`)).status).to.equal(200);
      expect(calls[0]?.principal).to.deep.equal({ subject: cluster.ownerId, apiKeyId: cluster.apiKeyId });
      expect(calls[0]?.client).to.equal("127.0.0.1");
    });
  });

  it("ask for the access that they need", async () => {
    cluster.changeOwner({ role: "member" });
    const body = JSON.stringify({ name: "x" });
    await expectError(await call("/things", { method: "POST", body }), 403, "insufficient_role", "admin");
    expect((await call(`/things/${THING}`)).status).to.equal(200);
  });

  describe("check in the order of the contract:", () => {
    const bytes = `/things/${THING}/bytes`;
    const post = (path: string, headers: Record<string, string> = {}, body = "x") =>
      call(path, { method: "POST", headers, body });

    it("the route before the token", async () => {
      await expectError(await post("/nothing", { Authorization: "" }), 404, "not_found", "/nothing");
      await expectError(await post(`/things/${THING}`, { Authorization: "" }), 405, "method_not_allowed");
    });

    it("the token before the path", async () => {
      await expectError(await post("/things/%FF/bytes", { Authorization: "" }), 401, "unauthorized");
      await expectError(await post("/things/%/bytes", { Authorization: "" }), 401, "unauthorized");
    });

    it("the rights before the media type and the size", async () => {
      cluster.changeOwner({ role: "viewer" });
      await expectError(await post("/things", {}, "x".repeat(70_000)), 403, "insufficient_role");
    });

    it("the path before headers, headers before the query", async () => {
      await expectError(await post("/things/x/bytes"), 400, "invalid_request", "thing_id");
      await expectError(await post("/things/%FF/bytes"), 400, "invalid_request", "thing_id");
      await expectError(await post("/things/%GG/bytes"), 400, "invalid_request", "thing_id");
      await expectError(await post(bytes), 400, "missing_header", "Idempotency-Key");
      await expectError(await post(`${bytes}?delimiter=a&delimiter=b`), 400, "missing_header");
    });

    it("headers and query before the announced size", async () => {
      const large = "x".repeat(BYTES_MAX + 1);
      await expectError(await post(bytes, { "Idempotency-Key": "12345" }, large), 400, "invalid_header");
      const repeated = await post(`${bytes}?delimiter=a&delimiter=a`, { "Idempotency-Key": "a" }, large);
      await expectError(repeated, 400, "invalid_delimiter", "delimiter");
    });

    it("the announced size before the resource, the resource before the body", async () => {
      const elsewhere = `/things/${UNKNOWN}/bytes`;
      const large = "x".repeat(BYTES_MAX + 1);
      await expectError(await post(elsewhere, { "Idempotency-Key": "a" }, large), 413, "payload_too_large", "1000");
      await expectError(await post(elsewhere, { "Idempotency-Key": "a" }), 404, "not_found");
      const head = [`POST ${elsewhere} HTTP/1.1`, `Authorization: Bearer ${token}`, "Idempotency-Key: a"];
      const connection = await RawConnection.open(port);
      connection.send(`${[...head, "Host: x", "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
      expect(await connection.until(/\}$/)).to.match(/^HTTP\/1\.1 404 /);
      connection.destroy();
    });
  });

  describe("read parameters", () => {
    it("with their defaults", async () => {
      expect((await call(`/things/${THING.toUpperCase()}`)).status).to.equal(200);
      expect(inputs).to.deep.equal([
        {
          path: { thing_id: THING },
          headers: { "Expected-Size": null },
          query: { limit: 100, verbose: false },
          mediaType: "application/json",
          body: undefined,
        },
      ]);
    });

    it("as they were given, decoded once", async () => {
      const response = await call(`/things/%3${THING}?limit=%31000&verbose`, { headers: { "expected-size": "7" } });
      expect(response.status).to.equal(200);
      expect(inputs).to.deep.equal([
        {
          path: { thing_id: THING },
          headers: { "Expected-Size": 7 },
          query: { limit: 1000, verbose: true },
          mediaType: "application/json",
          body: undefined,
        },
      ]);
    });

    it("that are bytes and not text", async () => {
      const target = `/things/${THING}/bytes?delimiter=%FF%00a+%2B`;
      const answer = await call(target, { method: "POST", headers: { "Idempotency-Key": "a" }, body: "x" });
      expect(answer.status).to.equal(200);
      expect(inputs).to.have.nested.property("[0].query.delimiter", "ff0061202b");
    });

    for (const query of ["limit=0", "limit=1001", "limit=1e2", "limit=", "limit=%FF", "limit=%", "limit=1&limit=1"]) {
      it(`and refuse ?${query}`, async () => {
        await expectError(await call(`/things/${THING}?${query}`), 400, "invalid_request", "limit");
      });
    }

    for (const [query, message] of [
      ["limt=7", "limt is unknown; did you mean limit?"],
      ["limit=many&limt=7", "limt is unknown; did you mean limit?"],
      ["Limit=7", "Limit is unknown; did you mean limit?"],
      ["dry_run=1", "dry_run is unknown: the query has limit, verbose"],
      ["%GG", "%GG is unknown"],
      ["limit=7&__proto__=1", "__proto__ is unknown"],
      [`limit=7&${"x".repeat(1_000)}`, `${"x".repeat(100)}... is unknown`],
    ] as const) {
      it(`and refuse one in the query that is not declared, as in ?${query.slice(0, 40)}`, async () => {
        await expectError(await call(`/things/${THING}?${query}`), 400, "invalid_request", message);
      });
    }

    it("and refuse a query where none is declared", async () => {
      const response = await call("/things?dry_run=1", { method: "POST", body: '{"name":"x"}' });
      await expectError(response, 400, "invalid_request", "dry_run is unknown");
    });

    it("and refuse a repeated header, in one line or two", async () => {
      const head = [`GET /things/${THING} HTTP/1.1`, `Authorization: Bearer ${token}`];
      for (const lines of [["Expected-Size: 7, 7"], ["Expected-Size: 7", "expected-size: 7"]]) {
        expect(await raw([...head, ...lines])).to.match(
          /^HTTP\/1\.1 400 [\s\S]*"error":"Expected-Size [\s\S]*invalid_header/,
        );
      }
    });
  });

  describe("limit the requests of a user", () => {
    it("and report in every answer what is left", async () => {
      const first = await call(`/things/${THING}`);
      expect(first.headers.get("RateLimit-Policy")).to.equal('"default";q=30;w=60');
      expect(first.headers.get("RateLimit")).to.equal('"default";r=19;t=2');
      const refused = await call("/things/x");
      expect([refused.status, refused.headers.get("RateLimit")]).to.deep.equal([400, '"default";r=18;t=4']);
    });

    it("and say when to retry, in whole seconds rounded up (S46)", async () => {
      for (let taken = 0; taken < LIMIT.burst; taken++) {
        limiters.http.take(cluster.ownerId);
      }
      cluster.clock.monotonic += 999.5;
      const response = await call(`/things/${THING}`);
      expect(response.headers.get("Retry-After")).to.equal("2");
      expect(response.headers.get("RateLimit")).to.equal('"default";r=0;t=40');
      await expectError(response, 429, "rate_limited");
      cluster.clock.monotonic += 1000;
      expect((await call(`/things/${THING}`)).headers.get("Retry-After")).to.equal("1");
      cluster.clock.monotonic += 0.5;
      expect((await call(`/things/${THING}`)).status).to.equal(200);
    });

    it("after the token was checked, before rights, parameters and bodies", async () => {
      for (let taken = 0; taken < LIMIT.burst; taken++) {
        limiters.http.take(cluster.ownerId);
      }
      await expectError(await call("/things/x", { headers: { Authorization: "" } }), 401, "unauthorized");
      cluster.changeOwner({ role: "viewer" });
      await expectError(await call("/things", { method: "POST", body: "{" }), 429, "rate_limited");
      await expectError(await call("/things/x"), 429, "rate_limited");
    });
  });

  describe("take a body", () => {
    const json = (body: unknown) =>
      call("/things", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });

    it("of JSON, which is passed on unchanged", async () => {
      const name = `'; DROP TABLE things; -- <script>alert("é😀")</script>`;
      const response = await json({ name });
      expect([response.status, await response.json()]).to.deep.equal([201, { name }]);
      expect(response.headers.get("X-Content-Type-Options")).to.equal("nosniff");
      expect(response.headers.get("Content-Security-Policy")).to.include("default-src 'none'");
      expect(response.headers.get("Content-Type")).to.equal("application/json; charset=utf-8");
    });

    it("of JSON, and name only the field that is wrong, without its contents", async () => {
      await expectError(await json({ name: "x", size: "secret" }), 400, "invalid_request", "size must be");
      await expectError(await json({ size: 1 }), 400, "invalid_request", "name is required");
      await expectError(await json({ name: "" }), 400, "invalid_request", "name");
      const unknown = await json({ name: "x", Size: "secret" });
      await expectError(unknown, 400, "invalid_request", "Size is unknown; did you mean size?");
      await expectError(await json({ nme: "x" }), 400, "invalid_request", "nme is unknown; did you mean name?");
      const far = await json({ name: "x", color: "secret" });
      await expectError(far, 400, "invalid_request", "color is unknown: the body has name, size");
      const within = await json({ name: "x", maker: { city: "y", town: "secret" } });
      await expectError(within, 400, "invalid_request", "maker.town is unknown: maker has city");
      const below = await json({ name: "x", parts: [{ name: "y", size: "secret" }] });
      await expectError(below, 400, "invalid_request", "parts.0.size is unknown");
      const headers = { "Content-Type": "application/json" };
      const body = '{"name":"x","maker":{"city":"y","city":"secret"}}';
      const twice = await call("/things", { method: "POST", headers, body });
      await expectError(twice, 400, "invalid_request", "maker.city is given twice");
      const message = await (await json({ name: "x", size: "secret" })).text();
      expect(message).not.to.include("secret");
    });

    it("of exactly as many bytes as declared, of any kind", async () => {
      const body = Buffer.alloc(BYTES_MAX, 0xff);
      const response = await call(`/things/${THING}/bytes`, {
        method: "POST",
        headers: { "Idempotency-Key": "a" },
        body,
      });
      expect(await response.json()).to.deep.equal({ length: BYTES_MAX });
    });
  });

  describe("answer once", () => {
    it("at the deadline, and notify the handler", async () => {
      deadlineMs = 1;
      const { promise, resolve } = Promise.withResolvers<Answer<unknown>>();
      handle = () => promise;
      const response = await call(`/things/${THING}`);
      expect(response.headers.get("Retry-After")).to.equal("1");
      expect([response.status, (await response.json()) as unknown]).to.deep.equal([
        503,
        { error: "the request could not be answered in time", code: "unavailable" },
      ]);
      expect(calls[0]?.isGone).to.equal(true);
      resolve({ json: "late" });
    });

    it("and report a bug that occurs later", async () => {
      deadlineMs = 1;
      const { promise, reject } = Promise.withResolvers<Answer<unknown>>();
      handle = () => promise;
      await call(`/things/${THING}`);
      reject(new TypeError("a bug"));
      await promise.catch(() => undefined);
      expect(bugs.splice(0).map(String)).to.deep.equal(["TypeError: a bug"]);
    });

    it("503 if a read ended with an unknown outcome: nothing was executed", async () => {
      handle = () => Promise.reject(new CoordinationError("DEADLINE", "", { outcome: "unknown" }));
      expect((await call(`/things/${THING}`)).status).to.equal(503);
    });

    it("503 if the deadline passed before the handler was called: nothing was executed", async () => {
      cluster.changeApiKey({ revokedAtMs: 1 });
      cluster.onBarrier = (done) => done(new CoordinationError("DEADLINE", "", { outcome: "unknown" }));
      await expectError(await call(`/things/${THING}`), 503, "unavailable");
      await expectError(await call("/things", { method: "POST", body: "{}" }), 503, "unavailable");
    });

    it("and notify the handler when the client has gone", async () => {
      const called = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      handle = () => {
        calls[0]?.onGone(gone.resolve);
        called.resolve();
        return gone.promise.then(() => ({ json: {} }));
      };
      const abort = new AbortController();
      const answer = call(`/things/${THING}`, { signal: abort.signal }).catch(() => "aborted");
      await called.promise;
      abort.abort();
      await gone.promise;
      expect(await answer).to.equal("aborted");
    });

    it("500 to a bug, without details", async () => {
      handle = () => {
        throw new TypeError("secret detail");
      };
      const response = await call(`/things/${THING}`);
      expect([response.status, await response.text()]).to.satisfy(
        ([status, text]: [number, string]) => status === 500 && !text.includes("secret"),
      );
      expect(bugs.splice(0).map(String)).to.deep.equal(["TypeError: secret detail"]);
    });
  });

  it("answer with a stream, which ends with the client or when it fails", async () => {
    const streams: ResponseStream[] = [];
    handle = () => ({ type: "text/event-stream", stream: (stream) => streams.push(stream) });
    const response = await call(`/things/${THING}`);
    expect(response.headers.get("Content-Type")).to.equal("text/event-stream");
    expect(response.headers.get("Cache-Control")).to.equal("no-store, no-transform");
    expect(response.headers.get("X-Accel-Buffering")).to.equal("no");
    const [stream] = streams as [ResponseStream];
    await new Promise<void>((resolve) => stream.send(Buffer.from("data: 1\n\n"), resolve));
    stream.fail(new CoordinationError("TOKEN_REVOKED", "revoked"));
    expect(await response.text()).to.equal("data: 1\n\n");
    expect(stream.hasEnded).to.equal(true);
    const head = await call(`/things/${THING}`, { method: "HEAD" });
    expect([head.status, head.headers.get("Content-Type")]).to.deep.equal([200, "text/event-stream"]);
    expect(streams).to.have.length(1);
  });

  it("answer an error while a stream opens like any other error", async () => {
    handle = () => ({
      type: "text/event-stream",
      stream: () => {
        throw new CoordinationError("TOO_MANY_STREAMS", "no room");
      },
    });
    const response = await call(`/things/${THING}`);
    expect(response.headers.get("Content-Type")).to.equal("application/json; charset=utf-8");
    expect([response.status, response.headers.get("Retry-After")]).to.deep.equal([503, "1"]);
    expect(await response.json()).to.deep.equal({ error: "no room", code: "unavailable" });
  });

  it("open no stream for a HEAD request", async () => {
    handle = () => ({ type: "text/event-stream", stream: () => expect.fail("a stream was opened") });
    const response = await call(`/things/${THING}`, { method: "HEAD" });
    expect([response.status, response.headers.get("Content-Type")]).to.deep.equal([200, "text/event-stream"]);
    expect(await response.text()).to.equal("");
  });

  it("S39: end a stream even if its client reads nothing", async () => {
    const streams: ResponseStream[] = [];
    handle = () => ({ type: "text/event-stream", stream: (stream) => streams.push(stream) });
    const response = await call(`/things/${THING}`);
    const [stream] = streams as [ResponseStream];
    stream.send(Buffer.alloc(MORE_THAN_SOCKETS_HOLD), () => expect.fail("it was taken"));
    const over = new Promise<void>((resolve) => stream.onEnded(resolve));
    stream.fail(new CoordinationError("TOKEN_REVOKED", "revoked"));
    await over;
    await response.text().then(
      () => expect.fail("it was whole"),
      () => undefined,
    );
  });

  for (const [accept, mediaType] of [
    [undefined, "application/json"],
    ["*/*", "application/json"],
    ["text/event-stream", "text/event-stream"],
    ["text/html, Text/Event-Stream;q=0.5, */*;q=0.1", "text/event-stream"],
    ["application/json, text/event-stream;q=0.9", "application/json"],
    ["text/event-stream;q=0", "application/json"],
    ["image/png", "application/json"],
  ] as const) {
    it(`follow the media type that a client prefers: ${accept}`, async () => {
      await call(`/things/${THING}`, accept === undefined ? {} : { headers: { Accept: accept } });
      expect(inputs).to.have.nested.property("[0].mediaType", mediaType);
    });
  }

  it("are described ready to send, compressed and with a validator", async () => {
    for (const path of ["/openapi.json", "/docs"]) {
      const compressed = await call(path);
      expect(compressed.headers.get("Content-Encoding"), path).to.equal("gzip");
      const plain = await call(path, { headers: { "Accept-Encoding": "identity" } });
      expect(plain.headers.get("Content-Encoding")).to.equal(null);
      expect(await compressed.text()).to.equal(await plain.text());
      const etag = plain.headers.get("ETag") ?? "";
      expect(etag).to.match(/^"[\w-]{24}"$/);
      const again = await call(path, { headers: { "If-None-Match": etag } });
      expect([again.status, await again.text()]).to.deep.equal([304, ""]);
      const head = await call(path, { method: "HEAD" });
      expect([head.status, head.headers.get("ETag"), await head.text()]).to.deep.equal([200, etag, ""]);
    }
  });

  it("are described by the OpenAPI document", async () => {
    const response = await call("/openapi.json", { headers: { Authorization: "" } });
    const document = (await response.json()) as Record<string, unknown>;
    expect(document).to.include({ openapi: "3.1.0" });
    const paths = document.paths as Record<string, Record<string, Record<string, unknown>>>;
    expect(Object.keys(paths)).to.include.members(["/things", "/things/{thing_id}", "/livez", "/openapi.json"]);
    const get = paths["/things/{thing_id}"]?.get;
    expect(get?.security).to.deep.equal([{ bearer: [] }]);
    expect(get?.parameters).to.deep.include({
      name: "limit",
      in: "query",
      description: "How many",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 1000 },
    });
    // `?verbose` and `?verbose=1` mean the same as `?verbose=true`.
    const flags = { anyOf: [{ type: "boolean" }, { type: "string", enum: ["", "0", "1"] }], default: false };
    expect(get).to.have.nested.property("parameters[3].schema").that.deep.equals(flags);
    expect(Object.keys(get?.responses as object)).to.deep.equal(["200", "400", "401", "403", "429", "500", "503"]);
    const create = paths["/things"]?.post;
    expect(Object.keys(create?.responses as object)).to.include.members(["201", "409", "413", "415", "504"]);
    expect(create).to.have.nested.property("requestBody.content.application/json.schema.required[0]", "name");
    const append = paths["/things/{thing_id}/bytes"]?.post;
    expect(append)
      .to.have.nested.property("responses.400.description")
      .that.includes("missing_header, invalid_delimiter");
    expect(paths["/livez"]?.get?.security).to.deep.equal([]);
  });
});
