/**
 * The rights over HTTP as one table: each endpoint × role × namespace × own, equal, greater. The list of endpoints
 * comes from the OpenAPI document, so an endpoint without a row fails.
 *
 * Each cell has its own actor and target, so cells are independent.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { type Actor, Actors, FakeTime, SingleReplica } from "../../../../test/harness/index.ts";
import { cheapHashing, FoundedCluster } from "../../../../test/index.ts";
import { Access, DEFAULT_RATE_LIMITS, rateLimiters } from "../../../access/index.ts";
import { derivedIdText, type Role } from "../../../state/index.ts";
import {
  DEFAULT_EVENT_HUB_LIMITS,
  DEFAULT_WATCH_LIMITS,
  EventHub,
  NamespaceStreams,
  WatchHub,
} from "../../../watch/index.ts";
import { accountMethods, EventLogMethods, Executor, WatchMethods } from "../../methods/index.ts";
import { accountRoutes } from "../accounts/index.ts";
import { EVENT_STREAM_TYPE } from "../answers/index.ts";
import { logRoutes } from "../logs/index.ts";
import { watchRoutes } from "../watches/index.ts";
import { createHttpApplication } from "./application.ts";
import { closeHttpServer, createHttpServer } from "./server.ts";

const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];
/** Owners have all namespaces, other actors have the namespace `a`. */
const OWN_NAMESPACE = "a";
const OTHER_NAMESPACE = "b";
const HASHING_MS_MAX = 60_000;
const NO_MAIL = { canSend: true, sendVerification: () => undefined, sendPasswordReset: () => undefined };

interface Sent {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text that the answer to a listing contains if it lists the target. */
  readonly listed?: string;
  /** The action between two requests for totals; the test checks whether the totals have grown. */
  readonly between?: () => void;
}

/** The request of a row, for an actor of each role. It creates the target of the cell. */
type Ask = (world: World, actor: Actor) => Sent | Promise<Sent>;
type Expected = readonly [viewer: string, member: string, admin: string, owner: string];
type Row = readonly [what: string, ask: Ask, expected: Expected];

const ALL_200: Expected = ["200", "200", "200", "200"];
const DENIED = "403 insufficient_role";
const NO_USER = "404 user_not_found";
const NO_KEY = "404 key_not_found";
const NO_LOG = "404 log_not_found";
const NO_NAMESPACE = "403 namespace_denied";

/** Users as targets: those that an admin of the namespace `a` may manage, and those that the admin may not manage. */
const COVERED: readonly (readonly [string, Role, readonly string[]])[] = [
  ["a viewer of nothing", "viewer", []],
  ["a member of the same namespace", "member", ["a"]],
  ["an equal admin", "admin", ["a"]],
];
const GREATER: readonly (readonly [string, Role, readonly string[]])[] = [
  ["a viewer of another namespace", "viewer", ["b"]],
  ["a member of one namespace more", "member", ["a", "b"]],
  ["a viewer of all namespaces", "viewer", ["*"]],
  ["an owner", "owner", ["*"]],
];

/** Rows about a target user: the same request for each, with the expected answers for covered and for greater users. */
function aboutUsers(ask: (world: World, user: Actor) => Sent, covered: Expected, greater: Expected): readonly Row[] {
  const rowsOf = (users: typeof COVERED, expected: Expected): readonly Row[] =>
    users.map(([what, role, namespaces]) => [
      what,
      async (world) => ask(world, await world.actor(role, namespaces)),
      expected,
    ]);
  return [...rowsOf(COVERED, covered), ...rowsOf(GREATER, greater)];
}

/** Rows about a log: the actor's own, of another user in the actor's namespace, and in other namespaces. */
function aboutLogs(ask: (logId: string) => Sent, own: Expected, other: Expected, hidden: Expected): readonly Row[] {
  return [
    ["the actor's own", (world, actor) => ask(world.log(OWN_NAMESPACE, actor)), own],
    ["another user's in the same namespace", (world) => ask(world.log(OWN_NAMESPACE)), other],
    ["in another namespace", (world) => ask(world.log(OTHER_NAMESPACE)), hidden],
    ["in the namespace default", (world) => ask(world.log("default")), hidden],
    ["that is not there", () => ask(randomUUID()), [hidden[0], hidden[1], hidden[2], NO_LOG]],
  ];
}

/** Rows about a namespace: the actor's own, another one, and one that is not there. */
function aboutNamespaces(ask: (namespace: string) => Sent): readonly Row[] {
  return [
    ["the actor's own", () => ask(OWN_NAMESPACE), ALL_200],
    ["another one", () => ask(OTHER_NAMESPACE), [NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, "200"]],
    ["that is not there", () => ask("absent"), [NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, "404 not_found"]],
  ];
}

const HIDDEN: Expected = [NO_LOG, NO_LOG, NO_LOG, "200"];
const NEVER_LISTED: Expected = ["200 without", "200 without", "200 without", "200 with"];
const ANYBODY = (path: string): readonly Row[] => [["anybody", () => ({ path }), ALL_200]];
const BAD_REQUEST: Expected = [
  "400 invalid_request",
  "400 invalid_request",
  "400 invalid_request",
  "400 invalid_request",
];

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  "POST /auth/token": [["anybody", () => ({ path: "/auth/token", body: {} }), BAD_REQUEST]],
  "POST /auth/login": [["anybody", () => ({ path: "/auth/login", body: {} }), BAD_REQUEST]],
  "POST /auth/verify": [["anybody", () => ({ path: "/auth/verify", body: {} }), BAD_REQUEST]],
  "POST /auth/reset": [["anybody", () => ({ path: "/auth/reset", body: {} }), BAD_REQUEST]],
  "GET /.well-known/jwks.json": ANYBODY("/.well-known/jwks.json"),
  "GET /openapi.json": ANYBODY("/openapi.json"),
  "GET /docs": ANYBODY("/docs"),
  "GET /v1/watch/keys": aboutNamespaces((namespace) => ({ path: `/v1/watch/keys?namespace=${namespace}` })),
  "GET /v1/watch/locks": aboutNamespaces((namespace) => ({ path: `/v1/watch/locks?namespace=${namespace}` })),
  "GET /livez": ANYBODY("/livez"),
  "GET /readyz": ANYBODY("/readyz"),
  "GET /healthz": ANYBODY("/healthz"),
  "GET /metrics": ANYBODY("/metrics"),
  "POST /keys": [["for oneself", () => ({ path: "/keys", body: { name: "k" } }), [DENIED, "201", "201", "201"]]],
  "GET /keys": [
    [
      "one's own",
      (world, actor) => ({ path: "/keys", listed: world.key(actor) }),
      ["200 with", "200 with", "200 with", "200 with"],
    ],
    [
      "one's own, by id",
      (world, actor) => ({ path: `/keys?user_id=${actor.subject}`, listed: world.key(actor) }),
      ["200 with", "200 with", "200 with", "200 with"],
    ],
    [
      "of a user that is not there",
      () => ({ path: `/keys?user_id=${randomUUID()}`, listed: "api_key_id" }),
      [...([DENIED, DENIED, "200 without", "200 without"] as const)],
    ],
    ...aboutUsers(
      (world, user) => ({ path: `/keys?user_id=${user.subject}`, listed: world.key(user) }),
      [DENIED, DENIED, "200 with", "200 with"],
      [DENIED, DENIED, "200 without", "200 with"],
    ),
    ...aboutUsers(
      (world, user) => ({ path: "/keys?all=true&limit=1000", listed: world.key(user) }),
      [DENIED, DENIED, "200 with", "200 with"],
      [DENIED, DENIED, "200 without", "200 with"],
    ),
  ],
  "DELETE /keys/{api_key_id}": [
    ["one's own", (world, actor) => ({ path: `/keys/${world.key(actor)}` }), ALL_200],
    ["that is not there", () => ({ path: `/keys/${randomUUID()}` }), [NO_KEY, NO_KEY, NO_KEY, NO_KEY]],
    ...aboutUsers(
      (world, user) => ({ path: `/keys/${world.key(user)}` }),
      [NO_KEY, NO_KEY, "200", "200"],
      [NO_KEY, NO_KEY, NO_KEY, "200"],
    ),
  ],
  "POST /users": [
    ["of a lesser role", () => newUser("member", ["a"]), [DENIED, DENIED, "201", "201"]],
    ["of an equal role", () => newUser("admin", ["a"]), [DENIED, DENIED, "201", "201"]],
    ["of a greater role", () => newUser("owner", ["*"]), [DENIED, DENIED, DENIED, "201"]],
    ["of another namespace", () => newUser("viewer", ["b"]), [DENIED, DENIED, NO_NAMESPACE, "201"]],
    ["of all namespaces", () => newUser("viewer", ["*"]), [DENIED, DENIED, NO_NAMESPACE, "201"]],
  ],
  "GET /users": [
    [
      "oneself",
      (_world, { subject }) => ({ path: "/users?limit=1000", listed: subject }),
      [DENIED, DENIED, "200 with", "200 with"],
    ],
    ...aboutUsers(
      (_world, { subject }) => ({ path: "/users?limit=1000", listed: subject }),
      [DENIED, DENIED, "200 with", "200 with"],
      [DENIED, DENIED, "200 without", "200 with"],
    ),
  ],
  "GET /users/{user_id}": [
    ["oneself", (_world, { subject }) => ({ path: `/users/${subject}` }), ALL_200],
    ["that is not there", () => ({ path: `/users/${randomUUID()}` }), [DENIED, DENIED, NO_USER, NO_USER]],
    ...aboutUsers(
      (_world, { subject }) => ({ path: `/users/${subject}` }),
      [DENIED, DENIED, "200", "200"],
      [DENIED, DENIED, NO_USER, "200"],
    ),
  ],
  "PATCH /users/{user_id}": [
    [
      "one's own namespaces",
      (_world, { subject }) => ({ path: `/users/${subject}`, body: { role: "viewer", namespaces: [] } }),
      [DENIED, DENIED, "200", "200"],
    ],
    ["that is not there", () => ({ path: `/users/${randomUUID()}`, body: {} }), [DENIED, DENIED, NO_USER, NO_USER]],
    [
      "one's own password, without the present one",
      (_world, { subject }) => ({ path: `/users/${subject}`, body: { password: "another password" } }),
      BAD_REQUEST,
    ],
    ...[{}, { status: "disabled" }, { role: "viewer", namespaces: [] }].flatMap((body) =>
      aboutUsers(
        (_world, { subject }) => ({ path: `/users/${subject}`, body }),
        [DENIED, DENIED, "200", "200"],
        [DENIED, DENIED, NO_USER, "200"],
      ),
    ),
    [
      "to a greater role",
      async (world) => userPath(await world.actor("member", ["a"]), { role: "owner" }),
      [DENIED, DENIED, DENIED, "200"],
    ],
    [
      "to another namespace",
      async (world) => userPath(await world.actor("member", ["a"]), { namespaces: ["a", "b"] }),
      [DENIED, DENIED, NO_NAMESPACE, "200"],
    ],
  ],
  "DELETE /users/{user_id}": [
    ["oneself", (_world, { subject }) => ({ path: `/users/${subject}` }), [DENIED, DENIED, "200", "200"]],
    ["that is not there", () => ({ path: `/users/${randomUUID()}` }), [DENIED, DENIED, NO_USER, NO_USER]],
    ...aboutUsers(
      (_world, { subject }) => ({ path: `/users/${subject}` }),
      [DENIED, DENIED, "200", "200"],
      [DENIED, DENIED, NO_USER, "200"],
    ),
  ],
  "GET /billing/usage": [
    [
      "the totals, of one's own usage",
      (world, actor) => ({ path: "/billing/usage", between: () => world.usedKey(actor) }),
      ["200 more", "200 more", "200 more", "200 more"],
    ],
    ...aboutUsers(
      (world, user) => ({ path: "/billing/usage?granularity=hour", between: () => world.usedKey(user) }),
      ["200 same", "200 same", "200 more", "200 more"],
      ["200 same", "200 same", "200 same", "200 more"],
    ),
    [
      "of one's own keys",
      (world, actor) => ({ path: "/billing/usage", listed: world.usedKey(actor) }),
      ["200 with", "200 with", "200 with", "200 with"],
    ],
    ...aboutUsers(
      (world, user) => ({ path: "/billing/usage", listed: world.usedKey(user) }),
      ["200 without", "200 without", "200 with", "200 with"],
      ["200 without", "200 without", "200 without", "200 with"],
    ),
  ],
  "GET /logs": [
    ...aboutLogs(
      (logId) => ({ path: "/logs?limit=1000", listed: logId }),
      ["200 with", "200 with", "200 with", "200 with"],
      ["200 with", "200 with", "200 with", "200 with"],
      NEVER_LISTED,
    ).slice(0, -1),
    ["by the actor's namespace", () => ({ path: "/logs?namespace=a" }), ALL_200],
    ["by another namespace", () => ({ path: "/logs?namespace=b" }), [NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, "200"]],
    [
      "by a name of another namespace",
      (world) => ({ path: `/logs?name=${world.name}`, listed: world.log(OTHER_NAMESPACE) }),
      NEVER_LISTED,
    ],
  ],
  "POST /logs": [
    ["in the actor's namespace", (world) => newLog(world, "a"), [DENIED, "201", "201", "201"]],
    ["in another namespace", (world) => newLog(world, "b"), [DENIED, NO_NAMESPACE, NO_NAMESPACE, "201"]],
    ["in no namespace", (world) => newLog(world), [DENIED, NO_NAMESPACE, NO_NAMESPACE, "201"]],
    [
      "by a name of another namespace",
      (world) => {
        world.log(OTHER_NAMESPACE);
        return { path: "/logs", body: { name: world.name, namespace: "a" } };
      },
      [DENIED, "201", "201", "201"],
    ],
  ],
  "GET /logs/{log_id}": aboutLogs((logId) => ({ path: `/logs/${logId}` }), ALL_200, ALL_200, HIDDEN),
  "PATCH /logs/{log_id}": aboutLogs(
    (logId) => ({ path: `/logs/${logId}`, body: { settings: {} } }),
    [DENIED, "200", "200", "200"],
    [DENIED, DENIED, "200", "200"],
    [DENIED, NO_LOG, NO_LOG, "200"],
  ),
  "DELETE /logs/{log_id}": aboutLogs(
    (logId) => ({ path: `/logs/${logId}` }),
    [DENIED, "200", "200", "200"],
    [DENIED, DENIED, "200", "200"],
    [DENIED, NO_LOG, NO_LOG, "200"],
  ),
  "GET /logs/{log_id}/events": aboutLogs((logId) => ({ path: `/logs/${logId}/events` }), ALL_200, ALL_200, HIDDEN),
  "POST /logs/{log_id}/append": [
    ...aboutLogs(
      (logId) => ({ path: `/logs/${logId}/append` }),
      [DENIED, "200", "200", "200"],
      [DENIED, "200", "200", "200"],
      [DENIED, NO_LOG, NO_LOG, "200"],
    ),
    [
      "under a lock of another namespace",
      (world) => ({ path: `/logs/${world.log("a")}/append`, headers: { "Lock-Guard": "b/lock;token=1" } }),
      [DENIED, NO_NAMESPACE, NO_NAMESPACE, "409 fenced"],
    ],
  ],
  "POST /logs/{log_id}/append_batch": aboutLogs(
    (logId) => ({
      path: `/logs/${logId}/append_batch?delimiter=x`,
      body: {},
      headers: { "Idempotency-Key": "k", "Content-Type": "application/octet-stream" },
    }),
    [DENIED, "200", "200", "200"],
    [DENIED, "200", "200", "200"],
    [DENIED, NO_LOG, NO_LOG, "200"],
  ),
};

function newUser(role: Role, namespaces: readonly string[]): Sent {
  return { path: "/users", body: { email: `${randomUUID()}@quoin.local`, role, namespaces } };
}

function newLog(world: World, namespace?: string): Sent {
  return { path: "/logs", body: { name: world.name, namespace } };
}

function userPath({ subject }: Actor, body: object): Sent {
  return { path: `/users/${subject}`, body };
}

/** A cluster and its contents. */
class World {
  readonly cluster: FoundedCluster;
  readonly replica: SingleReplica;
  readonly access: Access;
  readonly #actors: Actors;
  /** The name of the next log. */
  name = "";

  constructor() {
    this.cluster = new FoundedCluster();
    this.replica = new SingleReplica(this.cluster);
    this.access = new Access(this.cluster, this.cluster.clock);
    this.#actors = new Actors(this.cluster, this.replica, this.access);
    for (const namespace of [OWN_NAMESPACE, OTHER_NAMESPACE]) {
      this.#actors.do({ kind: "create-namespace", namespace });
    }
  }

  actor(role: Role, namespaces: readonly string[]): Promise<Actor> {
    return this.#actors.add(role, namespaces);
  }

  /** The id of the actor's key, which was created with the actor. */
  key({ apiKeyId }: Actor): string {
    return apiKeyId;
  }

  /** The id of the actor's key, after a request with the key that is counted. */
  usedKey({ subject, apiKeyId }: Actor): string {
    const counts = { requests: 1, kvOperations: 0, lockOperations: 0, memoryOperations: 0 };
    this.replica.lead({ kind: "report-use", uses: [{ principal: { subject, apiKeyId }, ...counts }] });
    return apiKeyId;
  }

  /** A log, by default of the owner. A viewer has created one before becoming a viewer. */
  log(namespace: string, creator?: Actor): string {
    const settings = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };
    const creation = { kind: "create-log", name: this.name, namespace, settings } as const;
    const create = () => this.#actors.do(creation, creator);
    const { log } = creator === undefined ? create() : this.#actors.asOwner(creator, create);
    return derivedIdText(log.logId);
  }
}

describe("access by HTTP", function () {
  this.timeout(HASHING_MS_MAX);
  let world: World;
  let server: Server;
  let port: number;
  let bugs: unknown[];

  before(async () => {
    world = new World();
    const { cluster, replica, access } = world;
    const { clock } = cluster;
    const limits = DEFAULT_RATE_LIMITS;
    const limiters = rateLimiters(limits, clock);
    const member = { replica };
    const time = new FakeTime();
    const timing = { clock: time, scheduler: time };
    const namespaceStreams = new NamespaceStreams();
    const hub = new EventHub({ member, ...timing, limits: DEFAULT_EVENT_HUB_LIMITS, namespaceStreams });
    const watchHub = new WatchHub({ member, ...timing, limits: DEFAULT_WATCH_LIMITS, namespaceStreams });
    const executor = new Executor(member);
    const mail = NO_MAIL;
    const hashing = cheapHashing;
    const accounts = { member, replicated: cluster, access, executor, clock, limits, limiters, mail, hashing };
    bugs = [];
    const application = createHttpApplication({
      access,
      clock,
      limiters,
      health: { live: () => [], ready: () => [] },
      metrics: { contentType: "text/plain", metrics: () => Promise.resolve("") },
      reportBug: (error) => void bugs.push(error),
      routes: [
        ...accountRoutes(accountMethods(accounts), limiters, cluster),
        ...logRoutes(new EventLogMethods(member, executor, hub, time), time),
        ...watchRoutes(new WatchMethods(executor, watchHub), time),
      ],
    });
    server = createHttpServer(application).listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });

  after(async () => {
    await closeHttpServer(server, 0);
    expect(bugs).to.deep.equal([]);
  });

  /** Status and code; for listings, whether they contain the target; for totals, whether they have grown. */
  async function answerOf(method: string, sent: Sent, token: string): Promise<string> {
    if (sent.between !== undefined) {
      const before = await totalsOf(sent.path, token);
      sent.between();
      const after = await totalsOf(sent.path, token);
      return `200 ${after === before ? "same" : "more"}`;
    }
    const response = await fetch(`http://127.0.0.1:${port}${sent.path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(sent.body === undefined ? {} : { "Content-Type": "application/json" }),
        ...sent.headers,
      },
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
    });
    if (response.headers.get("content-type") === EVENT_STREAM_TYPE) {
      await response.body?.cancel();
      return String(response.status);
    }
    const text = await response.text();
    if (!response.ok) {
      return `${response.status} ${JSON.parse(text).code}`;
    }
    return sent.listed === undefined
      ? String(response.status)
      : `${response.status} ${text.includes(sent.listed) ? "with" : "without"}`;
  }

  /** The totals and the numbers by hour or day, which cover the same users. */
  async function totalsOf(path: string, token: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(response.status).to.equal(200);
    const { totals, buckets } = (await response.json()) as {
      readonly totals: { readonly requests: number };
      readonly buckets: readonly { readonly requests: number }[];
    };
    expect(buckets.reduce((sum, { requests }) => sum + requests, 0)).to.equal(totals.requests);
    return JSON.stringify(totals);
  }

  it("is in the table for each endpoint of the interface", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/openapi.json`);
    const { paths } = (await response.json()) as { readonly paths: Record<string, object> };
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(TABLE)).to.have.members(endpoints);
  });

  for (const [endpoint, rows] of Object.entries(TABLE)) {
    describe(endpoint, () => {
      for (const [at, [what, ask, expected]] of rows.entries()) {
        it(`${at + 1}. ${what}: ${ROLES.map((role, column) => `${role} ${expected[column]}`).join(", ")}`, async () => {
          const answers: string[] = [];
          for (const role of ROLES) {
            const actor = await world.actor(role, role === "owner" ? ["*"] : [OWN_NAMESPACE]);
            world.name = randomUUID();
            const sent = await ask(world, actor);
            answers.push(await answerOf(endpoint.split(" ")[0] as string, sent, actor.token));
          }
          expect(answers).to.deep.equal(expected);
        });
      }
    });
  }
});
