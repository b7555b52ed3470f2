/**
 * Revocation on three real members under concurrent load. Once one member has answered the revocation, no request that
 * begins later succeeds, of any kind and at any member, even at one that does not know of it yet. Reads without a
 * quorum and open streams have one second.
 */

import { randomUUID } from "node:crypto";
import {
  GetKeyRequest,
  PutKeyRequest,
  ReadConsistency,
  serviceDefinitions,
  WatchKeysRequest,
  type WatchKeysResponse,
} from "@quoin/proto";
import { expect } from "chai";
import { type Answer, ClusterUnderTest, GrpcCaller, type GrpcStream, pause, until } from "../harness/index.ts";

const { putKey, getKey } = serviceDefinitions.KeyValueService;
const { watchKeys } = serviceDefinitions.WatchService;

/** No rate limits here: the load comes from one user. */
const FLAGS = [
  "--mail-to-log",
  ...["http", "grpc", "token-requests", "token-failures"].flatMap((name) => ["--rate-limit", `${name}=0`]),
];
const NAMESPACE = "default";
const PASSWORD = "correct horse battery";
/** Bound for serializable reads and open streams. */
const LATEST_MS = 1_000;
/** Requests of each kind to each member, before and after. */
const REQUESTS = 8;
/** Between two requests of a kind to a member; it ends when a revocation is answered. */
const REST_MS = 40;
/** Requests are on their way within this time; a member may pause for this long without being missed. */
const SENT_MS = 100;
/** Number of tokens in use at a time, the newest ones. */
const TOKENS = 4;
/** Outcomes during an election, which the test does not want but a slow machine may cause. */
const PASSING: ReadonlySet<string> = new Set(["NO_LEADER", "LEADER_CHANGED", "DEADLINE", "unavailable", "timeout"]);

type Kind = "mutation" | "linearizable read" | "serializable read" | "append" | "read by HTTP" | "token exchange";

interface Attempt {
  readonly kind: Kind;
  readonly member: number;
  readonly beganMs: number;
  /** "OK", or the reason or code of the refusal. */
  readonly result: string;
}

/** A user, an API key and its tokens. */
interface Credentials {
  readonly userId: string;
  readonly email: string;
  /** A token of a login. */
  readonly login: string;
  readonly apiKeyId: string;
  readonly apiKey: string;
  readonly tokens: string[];
}

describe("revocation", function () {
  this.timeout(240_000);
  let cluster: ClusterUnderTest;
  let owner: string;
  let logPath: string;
  let callers: GrpcCaller[];
  let streams: (() => void)[];

  before(async () => {
    cluster = await ClusterUnderTest.start(3, { placementOf: async () => ({ flags: FLAGS }) });
    owner = await cluster.tokens.token();
    callers = cluster.members.map(({ ports }) => new GrpcCaller(ports.grpc, new Map([["api-version", "v1"]])));
    const log = await http(0, "POST", "/logs", owner, { name: "log", namespace: NAMESPACE });
    logPath = `/logs/${log.body.log_id}`;
    expect(await put(0, owner, "there")).to.equal("OK");
  });

  beforeEach(() => {
    streams = [];
  });

  afterEach(() => {
    for (const close of streams) {
      close();
    }
  });

  after(async () => {
    for (const caller of callers) {
      caller.close();
    }
    await cluster.dispose();
  });

  async function http(member: number, method: string, path: string, token: string | null, json?: object | string) {
    const { host, ports } = cluster.members[member] ?? expect.fail("there are three members");
    const response = await fetch(`http://${host}:${ports.http}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(typeof json === "object" ? { "Content-Type": "application/json" } : {}),
      },
      ...(json === undefined ? {} : { body: typeof json === "string" ? json : JSON.stringify(json) }),
    });
    const body = (await response.json()) as Record<string, string>;
    return { result: response.ok ? "OK" : String(body.code), body };
  }

  async function succeeds(...request: Parameters<typeof http>): Promise<Record<string, string>> {
    const { result, body } = await http(...request);
    expect(result, request.slice(0, 3).join(" ")).to.equal("OK");
    return body;
  }

  /** A new user with the role member, in the one namespace, with an API key. */
  async function newCredentials(): Promise<Credentials> {
    const email = `${randomUUID()}@example.com`;
    const fields = { email, role: "member", namespaces: [NAMESPACE] };
    const { user_id: userId = "" } = await succeeds(0, "POST", "/users", owner, fields);
    const token = await cluster.mailedToken(email);
    await succeeds(0, "POST", "/auth/verify", null, { token, password: PASSWORD });
    const { access_token: login = "" } = await succeeds(0, "POST", "/auth/login", null, { email, password: PASSWORD });
    const key = await succeeds(0, "POST", "/keys", login, { name: "load" });
    const exchanged = await succeeds(0, "POST", "/auth/token", null, { api_key: key.key });
    return {
      userId,
      email,
      login,
      apiKeyId: key.api_key_id ?? "",
      apiKey: key.key ?? "",
      tokens: [exchanged.access_token ?? ""],
    };
  }

  function callerOf(member: number): GrpcCaller {
    return callers[member] ?? expect.fail("there are three members");
  }

  function bearer(token: string) {
    return { metadata: new Map([["authorization", `Bearer ${token}`]]), timeoutMs: 10_000 };
  }

  async function read(member: number, token: string, consistency: ReadConsistency): Promise<string> {
    const request = GetKeyRequest.fromPartial({ namespace: NAMESPACE, key: "there", consistency });
    return resultOf(await callerOf(member).call(getKey, request, bearer(token)));
  }

  async function exchange(member: number, { apiKey, tokens }: Credentials): Promise<string> {
    const { result, body } = await http(member, "POST", "/auth/token", null, { api_key: apiKey });
    if (result === "OK") {
      tokens.push(body.access_token ?? "");
      tokens.splice(0, tokens.length - TOKENS);
    }
    return result;
  }

  async function put(member: number, token: string, key: string): Promise<string> {
    const request = PutKeyRequest.fromPartial({ namespace: NAMESPACE, key, value: Buffer.from("v") });
    return resultOf(await callerOf(member).call(putKey, request, bearer(token)));
  }

  function ask(kind: Kind, member: number, credentials: Credentials): Promise<string> {
    const { tokens } = credentials;
    const token = tokens[Math.floor(performance.now()) % tokens.length] ?? "";
    switch (kind) {
      case "mutation":
        return put(member, token, "there");
      case "linearizable read":
        return read(member, token, ReadConsistency.LINEARIZABLE);
      case "serializable read":
        return read(member, token, ReadConsistency.SERIALIZABLE);
      case "append":
        return http(member, "POST", `${logPath}/append`, token, "event").then(({ result }) => result);
      case "read by HTTP":
        return http(member, "GET", `${logPath}/events?limit=1`, token).then(({ result }) => result);
      case "token exchange":
        return exchange(member, credentials);
    }
  }

  /** Opens the watch at each member; collects everything that it sends from now on. */
  async function watchEverywhere(token: string): Promise<GrpcStream<WatchKeysResponse, Answer<never>>[]> {
    const request = WatchKeysRequest.fromPartial({ namespace: NAMESPACE, prefix: "" });
    const watches = callers.map((caller) => caller.stream(watchKeys, request, { metadata: bearer(token).metadata }));
    streams.push(...watches.map((watch) => () => watch.cancel()));
    for (const watch of watches) {
      await watch.until("the watch to begin", (messages) => messages.length > 0);
    }
    return watches;
  }

  /** Tails the log at each member: the text so far, and whether it is over. */
  async function tailEverywhere(token: string): Promise<{ text: string; isOver: boolean }[]> {
    const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
    return Promise.all(
      cluster.members.map(async ({ host, ports }) => {
        const abort = new AbortController();
        streams.push(() => abort.abort());
        const path = `${logPath}/events`;
        const response = await fetch(`http://${host}:${ports.http}${path}`, { headers, signal: abort.signal });
        expect(response.status).to.equal(200);
        const tail = { text: "", isOver: false };
        void follow(response, tail);
        return tail;
      }),
    );
  }

  /**
   * Loads all members, revokes something at one of them, and requires that requests which begin later are refused.
   *
   * @param refusals the refusal of each kind of request afterwards; other kinds go on.
   * @param ends how watches end.
   * @param tokensOf the tokens of the load: those of the API key by default.
   */
  async function check(
    at: number,
    revoke: (credentials: Credentials) => Promise<unknown>,
    refusals: Partial<Record<Kind, string>>,
    ends: string,
    tokensOf: (credentials: Credentials) => string[] = ({ tokens }) => tokens,
  ): Promise<void> {
    const made = await newCredentials();
    const credentials = { ...made, tokens: tokensOf(made) };
    const kinds = Object.keys(refusals) as Kind[];
    const attempts: Attempt[] = [];
    const [token = ""] = credentials.tokens;
    const [watches, tails] = [await watchEverywhere(token), await tailEverywhere(token)];
    const [early, late] = [randomUUID(), randomUUID()];
    await tell(at, early);
    for (const watch of watches) {
      await watch.until("what was written before", (messages) => keysOf(messages).includes(early));
    }
    await until("what was appended before", () => tails.every(({ text }) => text.includes(base64(early))));
    let isOver = false;
    let answered = Promise.withResolvers<void>();
    const work = async (kind: Kind, member: number): Promise<void> => {
      while (!isOver) {
        const beganMs = performance.now();
        attempts.push({ kind, member, beganMs, result: await ask(kind, member, credentials) });
        await Promise.race([pause(REST_MS), answered.promise]);
      }
    };
    const load = Promise.all(kinds.flatMap((kind) => cluster.members.map((_, member) => work(kind, member))));
    const wasAskedSince = (sinceMs: number) =>
      kinds.every((kind) =>
        cluster.members.every((_, member) => {
          const counted = attempts.filter((one) => one.kind === kind && one.member === member);
          return counted.filter(({ beganMs }) => beganMs > sinceMs).length >= REQUESTS;
        }),
      );
    try {
      await until("enough requests before", () => wasAskedSince(0));
      expect(new Set(attempts.map(({ result }) => result).filter((result) => !PASSING.has(result)))).to.deep.equal(
        new Set(["OK"]),
      );
      await revoke(credentials);
      const answeredMs = performance.now();
      const resting = answered;
      answered = Promise.withResolvers();
      // The first moment is the most dangerous one: then each kind of request begins at each member.
      resting.resolve();
      await pause(LATEST_MS);
      await tell(at, late);
      const lateMs = performance.now();
      await until("enough requests after", () => wasAskedSince(lateMs));
      isOver = true;
      await load;
      for (const { kind, member, beganMs, result } of attempts) {
        const fromMs = answeredMs + (kind === "serializable read" ? LATEST_MS : 0);
        if (beganMs > fromMs && !PASSING.has(result)) {
          expect(result, `a ${kind} at q-${member}, ${beganMs - answeredMs} ms after the answer`).to.equal(
            refusals[kind],
          );
        }
      }
    } finally {
      isOver = true;
      await load;
    }
    for (const watch of watches) {
      expect((await watch.ended()).reason).to.equal(ends);
      expect(keysOf(watch.messages), "what was written a second later").not.to.include(late);
    }
    await until("the tails to end", () => tails.every((tail) => tail.isOver));
    for (const { text } of tails) {
      expect(text, "what was appended a second later").not.to.include(base64(late));
    }
  }

  /** Writes a key and an event, which all watchers and tails get. */
  async function tell(at: number, what: string): Promise<void> {
    expect(await put(at, owner, what)).to.equal("OK");
    await succeeds(at, "POST", `${logPath}/append`, owner, what);
  }

  const REVOKED: Record<Kind, string> = {
    mutation: "TOKEN_REVOKED",
    "linearizable read": "TOKEN_REVOKED",
    "serializable read": "TOKEN_REVOKED",
    append: "token_revoked",
    "read by HTTP": "token_revoked",
    "token exchange": "invalid_api_key",
  };

  // The leader, unless there was an election, and a follower.
  for (const at of [0, 1]) {
    it(`of an API key at q-${at} leaves nothing that succeeds`, () =>
      check(at, ({ apiKeyId }) => succeeds(at, "DELETE", `/keys/${apiKeyId}`, owner), REVOKED, "TOKEN_REVOKED"));
  }

  it("of an API key leaves nothing that succeeds at a member that stood still meanwhile", async () => {
    const credentials = await newCredentials();
    const follower = await cluster.follower();
    const late = cluster.members.indexOf(follower);
    const kinds = (Object.keys(REVOKED) as Kind[]).filter((kind) => kind !== "serializable read");
    // It then knows the token, and there are connections to it.
    for (const kind of kinds) {
      expect(await ask(kind, late, credentials), `a ${kind} before`).to.equal("OK");
    }
    const asked: Promise<{ kind: Kind; result: string }>[] = [];
    follower.pause();
    try {
      await succeeds((late + 1) % cluster.members.length, "DELETE", `/keys/${credentials.apiKeyId}`, owner);
      for (const kind of kinds.flatMap((one) => Array.from({ length: REQUESTS }, () => one))) {
        asked.push(ask(kind, late, credentials).then((result) => ({ kind, result })));
      }
      await pause(SENT_MS);
    } finally {
      // It sees the requests before it has applied any entry of the others.
      follower.resume();
    }
    const definite = (await Promise.all(asked)).filter(({ result }) => !PASSING.has(result));
    for (const { kind, result } of definite) {
      expect(result, `a ${kind} at q-${late}, sent while it stood still`).to.equal(REVOKED[kind]);
    }
    expect(new Set(definite.map(({ kind }) => kind))).to.deep.equal(new Set(kinds));
  });

  it("of an API key bounds serializable reads by a second, also at a member that stood still for longer", async () => {
    const credentials = await newCredentials();
    const follower = await cluster.follower();
    const late = cluster.members.indexOf(follower);
    expect(await ask("serializable read", late, credentials), "before").to.equal("OK");
    const asked: Promise<string>[] = [];
    follower.pause();
    try {
      await succeeds((late + 1) % cluster.members.length, "DELETE", `/keys/${credentials.apiKeyId}`, owner);
      await pause(LATEST_MS);
      for (let count = 0; count < REQUESTS; count++) {
        asked.push(ask("serializable read", late, credentials));
      }
      await pause(SENT_MS);
    } finally {
      follower.resume();
    }
    const results = await Promise.all(asked);
    expect(results.filter((result) => !PASSING.has(result) && result !== "TOKEN_REVOKED")).to.deep.equal([]);
    await until(
      "a definite answer",
      async () => (await ask("serializable read", late, credentials)) === "TOKEN_REVOKED",
    );
  });

  it("by disabling a user leaves nothing that succeeds", () => {
    const disable = ({ userId }: Credentials) => {
      return succeeds(1, "PATCH", `/users/${userId}`, owner, { status: "disabled" });
    };
    return check(1, disable, REVOKED, "TOKEN_REVOKED");
  });

  const { "token exchange": _, ...REVOKED_LOGIN } = REVOKED;
  const changes: readonly (readonly [string, number, (credentials: Credentials) => Promise<unknown>])[] = [
    [
      "the user",
      0,
      ({ userId, login }) => {
        const passwords = { password: `${PASSWORD} 2`, current_password: PASSWORD };
        return succeeds(0, "PATCH", `/users/${userId}`, login, passwords);
      },
    ],
    [
      "an administrator",
      1,
      ({ userId }) => succeeds(1, "PATCH", `/users/${userId}`, owner, { password: `${PASSWORD} 2` }),
    ],
  ];
  for (const [who, at, change] of changes) {
    it(`by another password, from ${who}, leaves nothing of a login that succeeds, and leaves API keys alone`, async () => {
      let changed: Credentials | undefined;
      const revoke = (credentials: Credentials): Promise<unknown> => {
        changed = credentials;
        return change(credentials);
      };
      await check(at, revoke, REVOKED_LOGIN, "TOKEN_REVOKED", ({ login }) => [login]);
      const { email = "", apiKey = "" } = changed ?? {};
      for (const member of cluster.members.keys()) {
        const { access_token: token = "" } = await succeeds(member, "POST", "/auth/token", null, { api_key: apiKey });
        expect(await put(member, token, "there")).to.equal("OK");
      }
      const old = await http(at, "POST", "/auth/login", null, { email, password: PASSWORD });
      expect(old.result).to.equal("invalid_credentials");
      const logIn = { email, password: `${PASSWORD} 2` };
      const { access_token: again = "" } = await succeeds(at, "POST", "/auth/login", null, logIn);
      for (const member of cluster.members.keys()) {
        expect(await put(member, again, "there")).to.equal("OK");
      }
    });
  }

  it("of a namespace leaves nothing in it that succeeds", () => {
    const withdraw = ({ userId }: Credentials) => {
      return succeeds(2, "PATCH", `/users/${userId}`, owner, { namespaces: [] });
    };
    const denied = "NAMESPACE_DENIED";
    const refusals = {
      mutation: denied,
      "linearizable read": denied,
      "serializable read": denied,
      append: "log_not_found",
      "read by HTTP": "log_not_found",
    };
    return check(2, withdraw, refusals, denied);
  });
});

function resultOf({ code, reason }: Answer<unknown>): string {
  return code === "OK" ? code : reason || code;
}

async function follow(response: Response, tail: { text: string; isOver: boolean }): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      tail.text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    // Either the test or the member has closed it: it is over.
  }
  tail.isOver = true;
}

function keysOf(messages: readonly WatchKeysResponse[]): (string | undefined)[] {
  return messages.flatMap(({ events }) => events.map(({ kv }) => kv?.key));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
