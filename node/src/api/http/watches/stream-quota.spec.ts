import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import {
  Actors,
  type Answer,
  type GrpcCaller,
  GrpcPorts,
  type GrpcStream,
  until,
} from "../../../../test/harness/index.ts";
import { NO_SETTINGS } from "../../../../test/index.ts";
import { DEFAULT_RATE_LIMITS, rateLimiters } from "../../../access/index.ts";
import { systemClock, systemScheduler } from "../../../replica/index.ts";
import { derivedIdText } from "../../../state/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, type EventHubLimits } from "../../../watch/index.ts";
import { EventLogMethods, Executor } from "../../methods/index.ts";
import { logRoutes } from "../logs/index.ts";
import { closeHttpServer, createHttpApplication, createHttpServer } from "../server/index.ts";

const { watchKeys } = serviceDefinitions.WatchService;
const TAIL = { Accept: "text/event-stream" };

describe("the quota of streams", () => {
  let ports: GrpcPorts;
  let actors: Actors;
  let token: string;
  let owner: GrpcCaller;
  let server: Server;
  let bugs: unknown[];
  let hub: EventHub;
  let answers: IncomingMessage[];
  /** The requests as the server has them. */
  let requests: IncomingMessage[];

  beforeEach(() => serve());

  afterEach(() => stop());

  async function stop(): Promise<void> {
    for (const answer of answers) {
      answer.destroy();
    }
    await closeHttpServer(server, 0);
    await ports.close();
    expect([bugs, ports.reported]).deep.equal([[], []]);
  }

  /** Both ports of a member, gRPC and HTTP. */
  async function serve(limits: Partial<EventHubLimits> = {}): Promise<void> {
    ports = await GrpcPorts.founded();
    const { member, namespaceStreams } = ports;
    const access = member.access();
    actors = new Actors(member.cluster, member.replica ?? expect.fail("a founded member serves"), access);
    token = await ports.token();
    owner = ports.caller(token);
    const timing = { clock: systemClock, scheduler: systemScheduler };
    hub = new EventHub({
      member,
      ...timing,
      limits: { ...DEFAULT_EVENT_HUB_LIMITS, ...limits },
      namespaceStreams,
    });
    bugs = [];
    answers = [];
    requests = [];
    const application = createHttpApplication({
      access,
      clock: systemClock,
      limiters: rateLimiters(DEFAULT_RATE_LIMITS, systemClock),
      health: { live: () => [], ready: () => [] },
      metrics: { contentType: "text/plain", metrics: () => Promise.resolve("") },
      reportBug: (error) => void bugs.push(error),
      routes: logRoutes(new EventLogMethods(member, new Executor(member), hub, systemClock), systemScheduler),
    });
    server = createHttpServer((request, response) => {
      requests.push(request);
      application(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  }

  function limitTo(limit: number, namespace = "default"): void {
    const values = [{ name: `quota.namespace.${namespace}.watches`, value: String(limit) }];
    ports.replica.lead({ kind: "put-settings", values, ifRevision: 0, subject: "admin", request: null });
  }

  function newLog(namespace = "default"): string {
    const { log } = actors.do({ kind: "create-log", name: "log", namespace, settings: NO_SETTINGS });
    return derivedIdText(log.logId);
  }

  async function append(logId: string): Promise<void> {
    const { port } = server.address() as AddressInfo;
    const headers = { Authorization: `Bearer ${token}` };
    const url = `http://127.0.0.1:${port}/logs/${logId}/append`;
    expect((await fetch(url, { method: "POST", headers, body: "an event" })).status).equal(200);
  }

  /** Requests events, and returns the head of the answer. */
  async function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const asked = httpRequest({
      host: "127.0.0.1",
      port,
      path,
      agent: false,
      headers: { Authorization: `Bearer ${token}`, ...headers },
    });
    asked.end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    answers.push(answer);
    return answer;
  }

  async function bodyOf(answer: IncomingMessage): Promise<{ readonly code: string; readonly error: string }> {
    return JSON.parse(Buffer.concat(await answer.toArray()).toString());
  }

  /** A watch, once it is active or refused. */
  async function watch(namespace = "default"): Promise<GrpcStream<unknown, Answer<never>>> {
    const stream = owner.stream(watchKeys, WatchKeysRequest.create({ namespace }));
    await stream.begun();
    return stream;
  }

  it("covers watches, tails and waiting reads together, and its refusal names the limit and the use", async () => {
    limitTo(3);
    const logId = newLog();
    const events = `/logs/${logId}/events`;
    const tail = await get(events, TAIL);
    const watching = await watch();
    expect([tail.statusCode, watching.end]).deep.equal([200, null]);
    const waiting = get(`${events}?wait_secs=60`);
    await until("the read to wait", () => hub.size === 2);

    const refused = await watch();
    expect([refused.end?.code, refused.end?.reason]).deep.equal(["RESOURCE_EXHAUSTED", "QUOTA"]);
    expect(Object.fromEntries(refused.end?.details?.metadata ?? [])).deep.include({
      quota: "quota.namespace.watches",
      namespace: "default",
      limit: "3",
      used: "3",
    });
    for (const [path, headers] of [
      [events, TAIL],
      [`${events}?wait_secs=1`, {}],
    ] as const) {
      const answer = await get(path, headers);
      const { code, error } = await bodyOf(answer);
      expect([answer.statusCode, code], path).deep.equal([507, "storage_full"]);
      expect(error).include("has 3 of at most 3").and.include("quota.namespace.default.watches");
    }
    expect((await get(events)).statusCode, "a read that does not wait").equal(200);

    await append(logId);
    expect((await waiting).statusCode).equal(200);
    const second = await watch();
    expect(second.end, "in the place of the read").equal(null);
    tail.destroy();
    await until("the tail to be over", () => hub.size === 0);
    expect((await get(events, TAIL)).statusCode, "in the place of the tail").equal(200);
    expect((await watch()).end?.reason).equal("QUOTA");
    watching.cancel();
    await until("the watch to be over", async () => (await get(events, TAIL)).statusCode === 200);
  });

  it("is all that a stream costs: of its request's headers, only the trace is kept", async () => {
    const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
    const events = `/logs/${newLog()}/events`;
    for (const [given, kept] of [
      [traceparent, { traceparent }],
      ["x".repeat(8_000), {}],
    ] as const) {
      const headers = { ...TAIL, traceparent: given, padding: "x".repeat(4_000) };
      expect((await get(events, headers)).statusCode).equal(200);
      const request = requests.at(-1) ?? expect.fail("the server got the request");
      expect(request.rawHeaders).deep.equal([]);
      expect(request.headers).deep.equal(kept);
      expect(Object.keys(request.headersDistinct)).deep.equal(Object.keys(kept));
    }
  });

  it("is separate for each namespace and each member", async () => {
    actors.do({ kind: "create-namespace", namespace: "other" });
    limitTo(1);
    const [events, others] = [`/logs/${newLog()}/events`, `/logs/${newLog("other")}/events`];
    expect((await get(events, TAIL)).statusCode).equal(200);
    expect((await get(events, TAIL)).statusCode).equal(507);
    expect((await get(others, TAIL)).statusCode).equal(200);
    expect((await watch("other")).end).equal(null);
  });

  it("is not the reason when the member is full: another member may take the stream", async () => {
    await stop();
    await serve({ followersMax: 1 });
    limitTo(1);
    const events = `/logs/${newLog()}/events`;
    expect((await get(events, TAIL)).statusCode).equal(200);
    const answer = await get(events, TAIL);
    expect([answer.statusCode, (await bodyOf(answer)).code]).deep.equal([503, "unavailable"]);
  });
});
