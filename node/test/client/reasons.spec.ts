/**
 * The reasons of errors in the SDK: one set, which docs/errors.md describes, whichever interface answers. A real member
 * gives those that a client can cause. The others need faults, and so the ports raise them.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Client,
  createClient,
  exchangeApiKey,
  logIn,
  QuoinError,
  type QuoinReason,
  quoinReasons,
} from "@quoin/client";
import { serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import * as z from "zod";
import { DEFAULT_RATE_LIMITS, rateLimiters } from "../../src/access/index.ts";
import { closeHttpServer, createHttpApplication, createHttpServer, route } from "../../src/api/http/index.ts";
import { CoordinationError, isReason } from "../../src/state/index.ts";
import { ClusterUnderTest, type GrpcCaller, GrpcPorts } from "../harness/index.ts";

const { getKey } = serviceDefinitions.KeyValueService;
const LOG = "123e4567-e89b-42d3-a456-426614174000";
const ABSENT = "00000000-0000-4000-8000-000000000009";
const VIEWER = "viewer@quoin.test";
const PASSWORD = "correct horse battery";
const MEBIBYTE = 1024 * 1024;

const serviceReasons = quoinReasons.filter(isReason);

async function failure(work: Promise<unknown>): Promise<QuoinError> {
  const error = await work.then(
    () => expect.fail("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof QuoinError) {
    return error;
  }
  throw error;
}

/** A member with some data, and clients of it. */
interface Place {
  readonly cluster: ClusterUnderTest;
  /** Of the owner. */
  readonly owner: Client;
  /** Of a user who may only read the namespace `default`. */
  readonly viewer: Client;
  readonly ownerId: string;
  readonly logId: string;
  readonly regionId: string;
  /** A client with this token, which is closed at the end. */
  connect(token: string): Client;
}

async function prepared(cluster: ClusterUnderTest): Promise<Place & { readonly clients: readonly Client[] }> {
  const clients: Client[] = [];
  const { endpoints } = cluster;
  const connect = (token: string): Client => {
    const client = createClient({ endpoints, credentials: { token } });
    clients.push(client);
    return client;
  };
  const owner = cluster.client();
  await owner.users.create(VIEWER, { role: "viewer", namespaces: ["default"] });
  const token = await cluster.mailedToken(VIEWER);
  const verified = await send(cluster, "POST", "/auth/verify", {}, { token, password: PASSWORD });
  expect(verified.status).to.equal(200);
  await owner.users.create("unverified@quoin.test", { role: "viewer", namespaces: ["default"], password: PASSWORD });
  const { logId } = await owner.logs.create("taken");
  await owner.logs.append(logId, "first");
  const { regionId } = await owner.memory.allocate("default", 8);
  await owner.locks.create("default", "taken");
  await owner.readWriteLocks.create("default", "shared");
  await owner.keyValue.put("default", "k", "v");
  const login = await logIn({ email: VIEWER, password: PASSWORD, endpoints });
  const { user } = await logIn({ ...cluster.owner, endpoints });
  return {
    cluster,
    clients,
    connect,
    owner,
    ownerId: user.userId,
    logId,
    regionId,
    viewer: connect(login.accessToken),
  };
}

function send(
  { httpEndpoints: [endpoint] }: ClusterUnderTest,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object | string,
): Promise<Response> {
  const sent = typeof body === "object" ? JSON.stringify(body) : body;
  const type = typeof body === "object" ? { "content-type": "application/json" } : {};
  return fetch(`${endpoint}${path}`, {
    method,
    headers: { ...type, ...headers },
    ...(sent !== undefined && { body: sent }),
  });
}

/** A request that the SDK never sends. Its error has the reason of the header. */
async function sent(
  { cluster }: Place,
  ...request: Parameters<typeof send> extends [unknown, ...infer Rest] ? Rest : never
) {
  const [method, path, headers = {}, body] = request;
  const authorization = `Bearer ${await cluster.tokens.token()}`;
  const response = await send(cluster, method, path, { authorization, ...headers }, body);
  const reason = response.headers.get("error-reason") ?? "";
  throw new QuoinError({ code: "UNKNOWN", message: await response.text(), reason });
}

const held = ({ owner }: Place, name: string) => owner.locks.acquire("default", name, { owner: "other" });

type Causes = { readonly [Name in QuoinReason]?: (place: Place) => Promise<unknown> };

/** How a client causes each, one member being enough. */
const AT_A_MEMBER: Causes = {
  BAD_METADATA: (place) =>
    sent(
      place,
      "POST",
      "/coordination.v1.KeyValueService/GetKey",
      { "api-version": "v2" },
      { namespace: "a", key: "k" },
    ),
  BAD_FIELD: ({ owner }) => owner.users.create("no address", { role: "viewer", namespaces: [] }),
  TOO_LARGE: ({ owner }) => owner.keyValue.put("default", "large", Buffer.alloc(3 * MEBIBYTE)),
  REQUEST_ID_REUSED: async ({ owner }) => {
    const requestId = randomUUID();
    await owner.keyValue.put("default", "k", "1", { requestId });
    await owner.keyValue.put("default", "k", "2", { requestId });
  },
  TOKEN_INVALID: ({ connect }) => connect("a.b.c").logs.describe(ABSENT),
  TOKEN_REVOKED: async ({ cluster, owner, connect }) => {
    const { key, apiKeyId } = await owner.keys.create("revoked");
    const { endpoints } = cluster;
    const { accessToken } = await exchangeApiKey({ apiKey: key, endpoints });
    await owner.keys.revoke(apiKeyId);
    await connect(accessToken).logs.describe(ABSENT);
  },
  NAMESPACE_DENIED: ({ viewer }) => viewer.logs.find("a", { namespace: "other" }),
  ACCESS_DENIED: ({ viewer }) => viewer.logs.create("mine"),
  NAMESPACE_NOT_FOUND: ({ owner }) => owner.logs.create("a", { namespace: "absent" }),
  KEY_NOT_FOUND: ({ owner }) => owner.keyValue.get("default", "absent"),
  REGION_NOT_FOUND: ({ owner }) => owner.memory.describe("default", ABSENT),
  LOCK_NOT_FOUND: ({ owner }) => owner.locks.describe("default", "absent"),
  SESSION_NOT_FOUND: ({ owner }) => owner.sessions.end("default", 1),
  SESSION_LOST: async ({ owner }) => {
    const session = await owner.session("default", { ttlSeconds: 1 });
    await owner.sessions.end("default", session.id);
    await new Promise((resolve) => session.lost.addEventListener("abort", resolve));
    session.lost.throwIfAborted();
  },
  LOG_NOT_FOUND: ({ owner }) => owner.logs.describe(ABSENT),
  MEMBER_NOT_FOUND: ({ cluster }) => cluster.member("q-0").admin.removeMembers(["77"]),
  USER_NOT_FOUND: ({ owner }) => owner.users.get(ABSENT),
  API_KEY_NOT_FOUND: ({ owner }) => owner.keys.revoke(ABSENT),
  NAMESPACE_EXISTS: ({ owner }) => owner.keyValue.createNamespace("default"),
  LOCK_EXISTS: ({ owner }) => owner.locks.create("default", "taken"),
  LOG_EXISTS: ({ owner }) => owner.logs.create("taken"),
  MEMBER_EXISTS: ({ cluster }) => cluster.member("q-0").admin.addMember("q-0"),
  USER_EXISTS: ({ owner }) => owner.users.create(VIEWER, { role: "viewer", namespaces: [] }),
  REVISION_MISMATCH: ({ owner }) => owner.keyValue.put("default", "k", "v", { expectedModRevision: 1 }),
  VERSION_MISMATCH: ({ owner, regionId }) => owner.memory.write("default", regionId, 0, "a", { expectedVersion: 77 }),
  SEQUENCE_CONFLICT: ({ owner, logId }) => owner.logs.append(logId, "a", { expectedSequence: 0 }),
  NOT_LOCK_HOLDER: ({ owner }) => owner.locks.release("default", "taken", { owner: "nobody" }),
  FENCED: async (place) => {
    const { owner } = place;
    await owner.locks.create("default", "guard");
    const { fencingToken } = await held(place, "guard");
    const guard = { namespace: "default", lockName: "guard", fencingToken };
    await owner.locks.forceRelease("default", "guard");
    await owner.logs.append(place.logId, "late", { guard });
  },
  MEMORY_BOUNDS: ({ owner, regionId }) => owner.memory.read("default", regionId, 4, 8),
  COMPACTED: async ({ cluster, owner }) => {
    const { revision } = await owner.keyValue.put("default", "k", "later");
    await cluster.member("q-0").admin.compact(revision);
    const watch = await owner.watch.keys("default", { startRevision: 1 });
    await watch.next();
  },
  CONFIG_CHANGED: ({ cluster }) => cluster.member("q-0").admin.addMember("q-1", { ifConfigIndex: 77_777 }),
  LAST_VOTER: async ({ cluster }) => {
    const { admin } = cluster.member("q-0");
    await admin.removeMembers((await admin.listMembers()).members.map(({ id }) => id));
  },
  LAST_OWNER: ({ owner, ownerId }) => owner.users.delete(ownerId),
  SETTINGS_CHANGED: ({ cluster }) =>
    cluster
      .member("q-0")
      .admin.putSettings(new Map([["quota.namespace.default.keys", 1]]), { ifSettingsRevision: 77_777 }),
  NO_BACKUP_STORE: ({ cluster }) => cluster.member("q-0").admin.startBackup(),
  QUOTA: async ({ cluster, owner }) => {
    await owner.keyValue.createNamespace("small");
    await cluster.member("q-0").admin.putSettings(new Map([["quota.namespace.small.event_logs", 1]]));
    await owner.logs.create("one", { namespace: "small" });
    await owner.logs.create("two", { namespace: "small" });
  },
  NOT_ACQUIRED: async (place) => {
    await place.owner.locks.create("default", "held");
    await held(place, "held");
    await place.owner.locks.hold("default", "held", { owner: "late", waitMs: 0 });
  },
  NO_TOKEN: async ({ cluster }) => {
    const credentials = { tokenFile: "/absent/token" };
    const client = createClient({ endpoints: cluster.endpoints, credentials });
    await client.keyValue.get("default", "k").finally(() => client.close());
  },
  INVALID_API_KEY: ({ cluster: { endpoints } }) => exchangeApiKey({ apiKey: "wrong", endpoints }),
  INVALID_CREDENTIALS: ({ cluster: { endpoints } }) =>
    logIn({ email: VIEWER, password: "not the password", endpoints }),
  EMAIL_NOT_VERIFIED: ({ cluster: { endpoints } }) =>
    logIn({ email: "unverified@quoin.test", password: PASSWORD, endpoints }),
  TRANSACTION_CONFLICT: ({ owner }) =>
    owner.transact(
      "default",
      async (transaction) => {
        await transaction.get("k");
        await owner.keyValue.put("default", "k", "faster");
        transaction.put("k", "late");
      },
      { maxAttempts: 1 },
    ),
  NOT_A_NUMBER: async ({ owner }) => {
    await owner.keyValue.put("default", "word", "one");
    await owner
      .transaction("default")
      .then({ increment: { key: "word", delta: 1 } })
      .commit();
  },
  NUMBER_OVERFLOW: async ({ owner }) => {
    await owner.keyValue.put("default", "most", String(2n ** 63n - 1n));
    await owner
      .transaction("default")
      .then({ increment: { key: "most", delta: 1 } })
      .commit();
  },
  API_KEY_LOST: async ({ owner }) => {
    const requestId = randomUUID();
    await owner.keys.create("lost", { requestId });
    await owner.keys.create("lost", { requestId });
  },
};

describe("the reasons of the SDK", function () {
  // A process is started: a limit for a busy machine.
  this.timeout(120_000);

  it("are those that docs/errors.md describes", () => {
    const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8").replace(
      /^## Reasons that only HTTP has$.*?(?=^## )/ms,
      "",
    );
    const described = [...page.matchAll(/^\| `([A-Z_]+)` +\|.*\|.*\|.*\|$/gm)].map(([, reason = ""]) => reason);
    expect(described.sort()).to.deep.equal([...quoinReasons].sort());
  });

  it("are all caused here", () => {
    expect(serviceReasons).to.have.lengthOf.at.least(50);
    const caused = new Set([...Object.keys(AT_A_MEMBER), ...serviceReasons, "INTERNAL"]);
    expect([...caused].sort()).to.deep.equal([...quoinReasons].sort());
  });

  describe("over both interfaces, for the same refusal", () => {
    let ports: GrpcPorts;
    let server: Server;
    let caller: GrpcCaller;
    /** What the handler of HTTP throws. */
    let thrown: Error;

    before(async () => {
      ports = await GrpcPorts.founded();
      const { cluster } = ports.member;
      const serving = {
        access: ports.member.access(),
        clock: cluster.clock,
        limiters: rateLimiters(DEFAULT_RATE_LIMITS, cluster.clock),
        health: { live: () => [], ready: () => [] },
        reportBug: () => undefined,
        metrics: { contentType: "text/plain", metrics: () => Promise.resolve("") },
      };
      const describeLog = route({
        method: "GET",
        path: `/logs/${LOG}`,
        operationId: "describeLog",
        summary: "A log",
        access: "none",
        success: { status: 200, description: "The log", schema: z.object({}) },
        handle: () => {
          throw thrown;
        },
      });
      server = createHttpServer(createHttpApplication({ ...serving, routes: [describeLog] })).listen(0, "127.0.0.1");
      await once(server, "listening");
      const token = await ports.token();
      caller = ports.caller(token);
    });

    after(async () => {
      await closeHttpServer(server, 0);
      await ports.close();
    });

    /** Lets the service refuse a call. */
    async function overGrpc(refusal: CoordinationError): Promise<{ readonly code: string; readonly reason: string }> {
      ports.member.cluster.onBarrier = (done) => done(refusal);
      const { code, reason } = await caller.ask(getKey, { namespace: "default", key: "k" });
      return { code, reason };
    }

    /** Lets a route of HTTP refuse a request. */
    async function overHttp(error: Error): Promise<{ readonly status: number; readonly reason: string | null }> {
      thrown = error;
      const { status, headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/logs/${LOG}`);
      return { status, reason: headers.get("error-reason") };
    }

    for (const reason of serviceReasons) {
      it(reason, async () => {
        const refusal = new CoordinationError(reason, "because of the spec");
        expect(await overGrpc(refusal)).to.deep.equal({ code: refusal.code, reason });
        const asked = await overHttp(refusal);
        // Reasons that no route has are bugs there.
        expect(asked.reason).to.equal(asked.status === 500 ? "INTERNAL" : reason);
      });
    }

    it("INTERNAL", async () => {
      expect((await overHttp(new TypeError("a bug"))).reason).to.equal("INTERNAL");
    });
  });

  describe("at a real member", () => {
    let cluster: ClusterUnderTest;
    let place: Awaited<ReturnType<typeof prepared>>;

    before(async () => {
      cluster = await ClusterUnderTest.start(1, { placementOf: async () => ({ flags: ["--mail-to-log"] }) });
      place = await prepared(cluster);
    });

    after(async () => {
      for (const client of place.clients) {
        client.close();
      }
      await cluster.dispose();
    });

    for (const [reason, cause] of Object.entries(AT_A_MEMBER)) {
      it(reason, async () => {
        expect((await failure(cause(place))).reason).to.equal(reason);
      });
    }
  });
});
