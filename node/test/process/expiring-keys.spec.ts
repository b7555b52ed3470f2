/**
 * API keys past their `expires_in_days`, at the real HTTP and gRPC ports of a real member on a real disk. The member
 * runs in this process, because the test moves its wall clock by days. Everything else is as in a process of its own.
 */

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PutKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { Access, AccountMail, DEFAULT_RATE_LIMITS, rateLimiters } from "../../src/access/index.ts";
import { CallObserver } from "../../src/api/calls/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../../src/api/connections/index.ts";
import { PublicServer } from "../../src/api/grpc/index.ts";
import { accountRoutes, closeHttpServer, createHttpApplication, createHttpServer } from "../../src/api/http/index.ts";
import { accountMethods, EventLogMethods, Executor, MemberInspection } from "../../src/api/methods/index.ts";
import { MemberBackups } from "../../src/archive/index.ts";
import { type Clock, systemClock, systemScheduler } from "../../src/replica/index.ts";
import type { CoordinationError } from "../../src/state/index.ts";
import { RequestLog } from "../../src/telemetry/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, NamespaceStreams } from "../../src/watch/index.ts";
import { GrpcCaller, gateOf, InProcessMember, until } from "../harness/index.ts";
import { cheapHashing, secrets } from "../index.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const { watchKeys } = serviceDefinitions.WatchService;
const DAY_MS = 86_400_000;
const GRACE_MS = 1_000;
const PUT = PutKeyRequest.create({ namespace: "default", key: "k" });

describe("API keys that expire", function () {
  this.timeout(60_000);
  /** How far the wall clock of the member is ahead. */
  let aheadMs: number;
  let site: InProcessMember;
  let publicServer: PublicServer;
  let http: Server;
  let grpcPort: number;
  let callers: GrpcCaller[];
  let bugs: unknown[];

  beforeEach(async () => {
    [aheadMs, callers, bugs] = [0, [], []];
    const clock: Clock = { ...systemClock, wallMs: () => Date.now() + aheadMs };
    site = new InProcessMember("q-0", join(temporaryDirectory(), "data"));
    await site.start([], { clock, peering: null });
    const { memberName, incarnation, address } = site.founding();
    await site.member.bootstrap({ ...secrets.founding, memberName, incarnation, address });
    await until("the member to lead", () => site.replica.status().isServing);
    const { member } = site;
    const replicated = {
      get state() {
        return site.replica.state;
      },
      readBarrier: (deadlineMs: number, done: (error: CoordinationError | null) => void) =>
        site.replica.readBarrier(deadlineMs, done),
    };
    const access = new Access(replicated, clock);
    const logger = { error: (fields: object) => void bugs.push(fields), warn: () => undefined };
    const requestLog = new RequestLog(
      { debug: () => undefined, warn: () => undefined, isLevelEnabled: () => false },
      0,
      clock.monotonicMs,
    );
    const limits = DEFAULT_RATE_LIMITS;
    const limiters = rateLimiters(limits, clock);
    const executor = new Executor(member);
    const mail = new AccountMail({ mailer: null, clusterName: "quoin", log: { ...logger, info: () => undefined } });
    const accounts = accountMethods({
      member,
      replicated,
      access,
      executor,
      clock,
      limits,
      limiters,
      mail,
      hashing: cheapHashing,
    });
    const namespaceStreams = new NamespaceStreams();
    const hubLimits = DEFAULT_EVENT_HUB_LIMITS;
    const eventHub = new EventHub({ member, clock, scheduler: systemScheduler, limits: hubLimits, namespaceStreams });
    publicServer = new PublicServer({
      member,
      access,
      clock,
      logger,
      limiters,
      accounts,
      logs: new EventLogMethods(member, executor, eventHub, clock),
      scheduler: systemScheduler,
      observer: new CallObserver(requestLog, clock.monotonicMs),
      connectionLimiter: gateOf("grpc", clock.monotonicMs),
      clientLimits: DEFAULT_CLIENT_LIMITS,
      namespaceStreams,
      inspection: new MemberInspection(member, { samplesOf: () => [] }),
      backups: new MemberBackups({
        host: member,
        configuration: null,
        clock,
        scheduler: systemScheduler,
        log: { ...logger, info: () => undefined },
      }),
    });
    grpcPort = await publicServer.listen("127.0.0.1:0");
    const routes = accountRoutes(accounts, limiters, replicated);
    const health = { live: () => [], ready: () => [] };
    const metrics = { contentType: "text/plain", metrics: () => Promise.resolve("") };
    const reportBug = (error: unknown) => bugs.push(error);
    http = createHttpServer(createHttpApplication({ access, clock, limiters, health, metrics, reportBug, routes }));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
  });

  afterEach(async () => {
    for (const caller of callers) {
      caller.close();
    }
    await closeHttpServer(http, 0);
    await publicServer.stop(GRACE_MS);
    await site.stop();
    expect([...bugs, ...site.fatal]).deep.equal([]);
  });

  async function ask(line: string, body?: object, token?: string) {
    const [method = "", path = ""] = line.split(" ");
    const { port } = http.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  function callerWith(token: string): GrpcCaller {
    const metadata = new Map([
      ["authorization", `Bearer ${token}`],
      ["api-version", "v1"],
    ]);
    const caller = new GrpcCaller(grpcPort, metadata);
    callers.push(caller);
    return caller;
  }

  /** A key with a lifetime of this many days, and a token of the owner. */
  async function makeKey(days: number) {
    const { body: exchanged } = await ask("POST /auth/token", { api_key: secrets.apiKey });
    const owner: string = exchanged.access_token;
    const made = await ask("POST /keys", { name: "short", expires_in_days: days }, owner);
    expect(made.status).equal(201);
    return { key: made.body.key as string, expiresMs: Date.parse(made.body.expires_at) };
  }

  it("give no token any more, and tokens that end with them, over HTTP and gRPC", async () => {
    const { key, expiresMs } = await makeKey(1);
    expect(expiresMs - Date.now()).within(DAY_MS - 60_000, DAY_MS);
    const whole = await ask("POST /auth/token", { api_key: key, expires_in_secs: 86_400 });
    expect(whole.status).equal(200);
    expect(whole.body.expires_in, "never beyond the key").within(86_300, 86_400);

    // Less than an hour before its end, so a new token lasts less than an hour.
    aheadMs = expiresMs - Date.now() - 600_000;
    const late = await ask("POST /auth/token", { api_key: key });
    expect(late.status).equal(200);
    expect(late.body.expires_in).within(500, 600);
    const tokens: string[] = [whole.body.access_token, late.body.access_token];
    for (const token of tokens) {
      expect((await callerWith(token).call(putKey, PUT)).code, "a put before the end").equal("OK");
      expect((await ask("GET /keys", undefined, token)).status).equal(200);
    }
    const watch = callerWith(tokens[1] ?? "").stream(watchKeys, WatchKeysRequest.create({ namespace: "default" }));
    await watch.until("the watch to begin", ([first]) => first?.created);

    aheadMs += 600_001;
    const refused = await ask("POST /auth/token", { api_key: key });
    expect([refused.status, refused.body.code]).deep.equal([401, "invalid_api_key"]);
    for (const token of tokens) {
      const put = await callerWith(token).call(putKey, PUT);
      expect([put.code, put.reason]).deep.equal(["UNAUTHENTICATED", "TOKEN_EXPIRED"]);
      const listed = await ask("GET /keys", undefined, token);
      expect([listed.status, listed.body.code]).deep.equal([401, "token_expired"]);
    }
    expect((await watch.ended()).code, "the watch").equal("UNAUTHENTICATED");
  });

  it("do not take others with them, and are still listed with their end", async () => {
    const [short, long] = [await makeKey(1), await makeKey(2)];
    aheadMs = DAY_MS + 1_000;
    expect((await ask("POST /auth/token", { api_key: short.key })).status).equal(401);
    const { status, body } = await ask("POST /auth/token", { api_key: long.key });
    expect(status).equal(200);
    expect((await callerWith(body.access_token).call(putKey, PUT)).code).equal("OK");
    const listed = await ask("GET /keys", undefined, body.access_token);
    const ends = listed.body.keys.map(({ expires_at: end }: { expires_at: string | null }) => end);
    expect(ends).include(new Date(short.expiresMs).toISOString());
  });
});
