/** Watches as server-sent events, at a real member. */

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { type GrpcCaller, GrpcPorts, until } from "../../../../test/harness/index.ts";
import { DEFAULT_RATE_LIMITS, rateLimiters } from "../../../access/index.ts";
import { systemClock, systemScheduler } from "../../../replica/index.ts";
import { closeHttpServer, createHttpApplication, createHttpServer } from "../server/index.ts";
import { watchRoutes } from "./watch-routes.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const { createLock, acquireLock } = serviceDefinitions.LockService;

interface SentEvent {
  readonly id: string;
  /** "" = a message. */
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a message, of which a test reads what it expects.
  readonly data: any;
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a change, of which a test reads what it expects.
type Change = any;

/** Events of an open answer, in their order. */
class Events {
  readonly response: Response;
  readonly #leaving: AbortController;
  readonly #all: SentEvent[] = [];
  readonly ended: Promise<void>;

  constructor(response: Response, leaving: AbortController) {
    this.response = response;
    this.#leaving = leaving;
    this.ended = this.#read().catch(() => undefined);
  }

  /** All changes, each with the id of its message, which may have several. */
  get changes(): readonly Change[] {
    const messages = this.#all.filter(({ event }) => event === "");
    return messages.flatMap(({ id, data }) => data.events.map((event: object) => ({ ...event, id })));
  }

  get all(): readonly SentEvent[] {
    return this.#all;
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(): Promise<void> {
    let text = "";
    for await (const chunk of this.response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
        const data = fields.get("data");
        if (data !== undefined) {
          this.#all.push({ id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(data) });
        }
      }
    }
  }
}

describe("watches over HTTP", () => {
  let ports: GrpcPorts;
  let token: string;
  let owner: GrpcCaller;
  let server: Server;
  let bugs: unknown[];
  let open: Events[];

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    token = await ports.token();
    owner = ports.caller(token);
    bugs = [];
    open = [];
    const application = createHttpApplication({
      access: ports.member.access(),
      clock: systemClock,
      limiters: rateLimiters(DEFAULT_RATE_LIMITS, systemClock),
      health: { live: () => [], ready: () => [] },
      metrics: { contentType: "text/plain", metrics: () => Promise.resolve("") },
      reportBug: (error) => void bugs.push(error),
      routes: watchRoutes(ports.publicServer.watchMethods, systemScheduler),
    });
    server = createHttpServer(application).listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(async () => {
    for (const events of open) {
      events.leave();
      await events.ended;
    }
    await until("all watches to be closed", () => Promise.resolve(ports.publicServer.watches.statistics.streams === 0));
    await closeHttpServer(server, 0);
    await ports.close();
    expect([bugs, ports.reported]).deep.equal([[], []]);
  });

  async function get(target: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Events> {
    const leaving = new AbortController();
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method,
      signal: leaving.signal,
      headers: { Authorization: `Bearer ${token}`, ...headers },
    });
    const events = new Events(response, leaving);
    open.push(events);
    return events;
  }

  async function watch(query: string, lastSeen?: string): Promise<Events> {
    const events = await get(`/v1/watch/keys?${query}`, lastSeen === undefined ? {} : { "Last-Event-ID": lastSeen });
    expect(events.response.status).to.equal(200);
    expect(events.response.headers.get("content-type")).to.equal("text/event-stream");
    return events;
  }

  async function put(key: string, value: string): Promise<string> {
    const request = PutKeyRequest.create({ namespace: "default", key, value: Buffer.from(value) });
    const { response } = await owner.call(putKey, request);
    return String(response?.modRevision);
  }

  function change(events: Events, count: number): Promise<Change> {
    return until(`${count} changes`, () => Promise.resolve(events.changes[count - 1]));
  }

  async function refusal(target: string, headers: Readonly<Record<string, string>> = {}) {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      headers: { Authorization: `Bearer ${token}`, ...headers },
    });
    return [response.status, ((await response.json()) as { readonly code: string }).code];
  }

  it("begin with the event created, and report each change with its revision as the id", async () => {
    const events = await watch("namespace=default&prefix=a%2F&include_previous=true");
    await until("the event created", () => Promise.resolve(events.all[0]?.event === "created"));
    await put("b/1", "not watched");
    await put("a/1", "one");
    const revision = await put("a/1", "two");
    const { id, type, kv, previous } = await change(events, 2);
    expect([id, type, kv.key, kv.valueText, previous.valueText]).to.deep.equal([revision, "PUT", "a/1", "two", "one"]);
    expect(valuesOf(events)).to.deep.equal(["one", "two"]);
  });

  it("continue after the last event, wherever the client has stopped", async () => {
    const first = await watch("namespace=default");
    await until("the event created", () => Promise.resolve(first.all.length > 0));
    await put("k", "1");
    const { id } = await change(first, 1);
    first.leave();
    await put("k", "2");
    await put("k", "3");
    const again = await watch("namespace=default&start_revision=1", id);
    await put("k", "4");
    await change(again, 3);
    expect(valuesOf(again)).to.deep.equal(["2", "3", "4"]);
  });

  it("move the position while nothing changes", async () => {
    const events = await watch("namespace=default&progress_interval_ms=100");
    const progress = await until("progress", () =>
      Promise.resolve(events.all.find(({ event }) => event === "progress")),
    );
    expect(progress.data).to.deep.include({ events: [], progress: true, revision: progress.id });
    const again = await watch("namespace=default", progress.id);
    await put("k", "later");
    expect((await change(again, 1)).kv.valueText).to.equal("later");
  });

  it("report the holds of locks", async () => {
    const events = await get("/v1/watch/locks?namespace=default&name_prefix=night");
    await until("the event created", () => Promise.resolve(events.all.length > 0));
    const lock = { namespace: "default", name: "nightly" };
    await owner.call(createLock, { ...lock, ttlSeconds: 0n, lockDelaySeconds: 0n });
    const asked = { ttlSeconds: 0n, owner: "me", waitMs: 0n, fencingToken: 0n, sessionId: 0n };
    await owner.call(acquireLock, { ...lock, ...asked, value: Buffer.from("http://here") });
    expect(await change(events, 1)).to.deep.include({ lockKey: "nightly", owner: "me", action: "ACQUIRED", rw: false });
  });

  it("are refused with a status when they cannot begin", async () => {
    expect(await refusal("/v1/watch/keys")).to.deep.equal([400, "invalid_request"]);
    expect(await refusal("/v1/watch/keys?namespace=UPPER")).to.deep.equal([400, "invalid_request"]);
    expect(await refusal("/v1/watch/keys?namespace=absent")).to.deep.equal([404, "not_found"]);
    expect(await refusal("/v1/watch/keys?namespace=default", { Authorization: "Bearer x" })).to.deep.equal([
      ...[401, "unauthorized"],
    ]);
    expect(await refusal("/v1/watch/keys?namespace=default", { "Last-Event-ID": "x" })).to.deep.equal([
      ...[400, "invalid_header"],
    ]);
    expect(await refusal("/v1/watch/keys?namespace=default&progress_interval_ms=99")).to.deep.equal([
      ...[400, "invalid_request"],
    ]);
  });

  it("wait for a revision that is ahead of the state, and answer at once", async () => {
    const revision = Number(await put("k", "1"));
    const events = await watch("namespace=default", String(revision + 1));
    await put("k", "2");
    await put("k", "3");
    expect((await change(events, 1)).kv.valueText).to.equal("3");
  });

  it("end when their user loses the right", async () => {
    const events = await watch("namespace=default");
    ports.member.cluster.changeOwner({ namespaces: ["other"] });
    await events.ended;
  });

  it("open and close no watch for a HEAD request", async () => {
    const { response } = await get("/v1/watch/keys?namespace=default", {}, "HEAD");
    expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, "text/event-stream"]);
  });
});

function valuesOf({ changes }: Events): readonly string[] {
  return changes.map(({ kv }) => kv.valueText);
}
