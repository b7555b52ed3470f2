import type { UsageBody } from "@quoin/proto";
import { expect } from "chai";
import { SingleReplica } from "../../../test/harness/index.ts";
import {
  createApiKey,
  createUser,
  FoundedCluster,
  type FoundingSecrets,
  foundingSecrets,
  TOKEN_SHA256,
} from "../../../test/index.ts";
import {
  type Access,
  type ClientOperation,
  CoordinationError,
  type HttpOperation,
  includesAccess,
  includesNamespace,
  type Principal,
  readNamespaceUsage,
  refusalOf,
} from "../../state/index.ts";
import type { Call } from "./call.ts";
import { Executor } from "./executor.ts";
import { UsageMethods, type UsageRequest } from "./usage-methods.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2027, 4, 10);
/** Allows 90 requests per minute. */
const LIMIT = { requests: 15, windowSecs: 10, burst: 1 };
const ZERO = {
  requests: 0,
  append_requests: 0,
  events_appended: 0,
  bytes_appended: 0,
  kv_operations: 0,
  lock_operations: 0,
  memory_operations: 0,
};

describe("usage in answers", () => {
  let secrets: FoundingSecrets;
  let cluster: FoundedCluster;
  let replica: SingleReplica;
  let methods: UsageMethods;
  let owner: Principal;
  let requests = 0;
  /** The user of the tokens. */
  let tokenNamespaces: readonly string[];

  before(async () => {
    secrets = await foundingSecrets();
  });

  beforeEach(() => {
    tokenNamespaces = ["*"];
    cluster = new FoundedCluster(secrets);
    cluster.clock.wall = START_MS;
    replica = new SingleReplica(cluster);
    methods = new UsageMethods(new Executor({ replica }), cluster.clock, () => LIMIT);
    owner = { subject: cluster.ownerId, apiKeyId: cluster.apiKeyId };
  });

  function put(principal: Principal = owner, namespace = "default"): void {
    const operation: ClientOperation = {
      kind: "put-key" as const,
      namespace,
      key: Buffer.from("k"),
      value: Buffer.from("v"),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    };
    execute(operation, principal);
  }

  function execute(operation: ClientOperation, principal: Principal = owner): void {
    const requestId = new Uint8Array(16);
    new DataView(requestId.buffer).setUint32(0, requests++);
    replica.execute({ principal, request: { requestId }, operation });
  }

  function ask(operation: HttpOperation, principal: Principal = owner): void {
    replica.execute({ principal, request: null, operation });
  }

  /** @param most the highest access that the token allows */
  function usage(
    request: Partial<UsageRequest> = {},
    principal: Principal = owner,
    most: Access = "admin",
  ): Promise<UsageBody> {
    const check = (need: Parameters<Call["recheck"]>[0]) => {
      if (typeof need?.namespace === "string" && !includesNamespace(tokenNamespaces, need.namespace)) {
        throw new CoordinationError("NAMESPACE_DENIED", "the token does not give it");
      }
      const refusal =
        need !== null && !includesAccess([most], need.access)
          ? new CoordinationError("ACCESS_DENIED", "the token does not give it")
          : refusalOf(cluster.state, principal, need, cluster.clock.wall);
      if (refusal !== null) {
        throw refusal;
      }
    };
    const call: Call = {
      principal,
      deadlineMs: 10_000,
      trace: null,
      isGone: false,
      authorize: (need) => check(need) as undefined,
      recheck: check,
      charge: () => undefined,
      hasRequestId: false,
      requestId: () => expect.fail("HTTP requests have no request id"),
    };
    return new Promise((resolve, reject) => {
      methods.getUsage(call, { from: null, to: null, granularity: null, ...request }, (answer) => {
        return answer instanceof Error ? reject(answer) : resolve(answer);
      });
    });
  }

  it("covers this month by day, with what is stored now", async () => {
    put();
    cluster.clock.wall += DAY_MS + 5;
    put();
    put();
    const body = await usage();
    const bytes = body.totals.bytes_stored;
    expect(bytes).greaterThan(0);
    const [first] = body.buckets;
    expect(body).deep.equal({
      period: { start: "2027-05-01T00:00:00.000Z", end: "2027-05-11T00:00:00.005Z" },
      totals: { ...ZERO, requests: 3, kv_operations: 3, bytes_stored: bytes, memory_bytes: 0 },
      buckets: [
        { start: "2027-05-10T00:00:00.000Z", ...ZERO, requests: 1, kv_operations: 1, ...levels(first?.bytes_stored) },
        { start: "2027-05-11T00:00:00.000Z", ...ZERO, requests: 2, kv_operations: 2, ...levels(bytes) },
      ],
      by_key: [{ api_key_id: owner.apiKeyId, requests: 3, events_appended: 0, bytes_appended: 0 }],
      namespaces: [
        {
          namespace: "default",
          quotas: {
            bytes: { used: 2, limit: 8 * 1024 ** 3 },
            keys: { used: 1, limit: 10_000_000 },
            locks: { used: 0, limit: 1_000_000 },
            memory_bytes: { used: 0, limit: 1024 ** 3 },
            memory_regions: { used: 0, limit: 100_000 },
            event_bytes: { used: 0, limit: 16 * 1024 ** 3 },
            event_logs: { used: 0, limit: 10_000 },
          },
        },
      ],
      limits: { requests_per_minute: 90 },
      as_of: "2027-05-11T00:00:00.005Z",
    });

    function levels(bytesStored: number | null = 0) {
      return { bytes_stored: bytesStored, memory_bytes: 0 };
    }
  });

  it("covers a period by hours, from the beginning of an hour, with what was stored at its end", async () => {
    for (let hour = 0; hour < 5; hour++) {
      put();
      cluster.clock.wall += HOUR_MS;
    }
    const body = await usage({
      from: "2027-05-10T01:30:00Z",
      to: "2027-05-10T03:00:00.000+00:00",
      granularity: "hour",
    });
    expect(body.period).deep.equal({ start: "2027-05-10T01:00:00.000Z", end: "2027-05-10T03:00:00.000Z" });
    expect(body.buckets.map(({ start }) => start.slice(11, 13))).deep.equal(["01", "02"]);
    expect(body.totals).include({ requests: 2, bytes_stored: body.buckets[1]?.bytes_stored });
    expect(body.by_key.map((key) => key.requests)).deep.equal([2]);
    const later = await usage({ from: "2027-05-13", to: "2027-05-14" });
    expect(later.totals).include({ requests: 0 });
    expect(later.buckets).deep.equal([]);
  });

  it("shows the keys and the counts of other users to administrators only", async () => {
    for (const [userId, role] of [
      ["ada", "viewer"],
      ["ben", "member"],
    ] as const) {
      ask(createUser(userId, { role }));
      replica.lead({ kind: "verify-user", userId, tokenSha256: TOKEN_SHA256, passwordHash: "" });
    }
    ask(createApiKey("bens"), { subject: "ben", apiKeyId: "" });
    put({ subject: "ben", apiKeyId: "bens" });
    const ids = (body: UsageBody) => body.by_key.map(({ api_key_id: id }) => id);
    const all = await usage();
    expect(ids(all)).deep.equal([owner.apiKeyId, "bens"].sort());
    expect(all.totals.requests).equal(4);
    const bens = await usage({}, { subject: "ben", apiKeyId: "bens" });
    expect([ids(bens), bens.totals.requests]).deep.equal([["bens"], 2]);
    const adas = await usage({}, { subject: "ada", apiKeyId: "" });
    expect([ids(adas), adas.totals.requests, adas.buckets]).deep.equal([[], 0, []]);
    expect(ids(await usage({}, owner, "write")), "with a token from before").deep.equal([owner.apiKeyId]);
  });

  it("is the sum over the users that the caller may see, or over all for a caller with all namespaces", async () => {
    for (const namespace of ["a", "b"]) {
      execute({ kind: "create-namespace", namespace });
    }
    const users = [
      ["viewer-a", "viewer", ["a"]],
      ["member-a", "member", ["a"]],
      ["admin-a", "admin", ["a"]],
      ["member-b", "member", ["b"]],
      ["member-ab", "member", ["a", "b"]],
      ["viewer-all", "viewer", ["*"]],
    ] as const;
    for (const [userId, role, namespaces] of users) {
      ask(createUser(userId, { role, namespaces }));
      replica.lead({ kind: "verify-user", userId, tokenSha256: TOKEN_SHA256, passwordHash: "" });
    }
    const named = (subject: string): Principal => ({ subject, apiKeyId: "" });
    const putBy = (subject: string, namespace: string, times: number) => {
      for (let time = 0; time < times; time++) {
        put(named(subject), namespace);
      }
    };
    putBy("member-a", "a", 1);
    putBy("admin-a", "a", 2);
    putBy("member-b", "b", 4);
    cluster.clock.wall += HOUR_MS;
    putBy("member-a", "a", 8);
    putBy("member-ab", "b", 16);
    const counted = async (subject: string, request: Partial<UsageRequest> = {}) => {
      const { totals, buckets } = await usage({ granularity: "hour", ...request }, named(subject));
      return [totals.kv_operations, ...buckets.map((bucket) => bucket.kv_operations)];
    };
    expect(await counted("viewer-a"), "nothing of others").deep.equal([0]);
    expect(await counted("member-a")).deep.equal([9, 1, 8]);
    expect(await counted("admin-a"), "with those whose namespaces an admin holds").deep.equal([11, 3, 8]);
    expect(await counted("member-b")).deep.equal([4, 4]);
    expect(await counted("member-ab")).deep.equal([16, 16]);
    expect(await counted("viewer-all"), "the cluster").deep.equal([31, 7, 24]);
    expect(await counted(cluster.ownerId), "the cluster").deep.equal([31, 7, 24]);
    expect(await counted("admin-a", { to: "2027-05-10T01:00:00Z" }), "of the first hour").deep.equal([3, 3]);
    tokenNamespaces = ["a"];
    expect(await counted("viewer-all"), "as far as the token goes").deep.equal([0]);
  });

  it("shows what is stored in the caller's namespaces now, not at another time", async () => {
    for (const namespace of ["a", "b", "c"]) {
      execute({ kind: "create-namespace", namespace });
      put(owner, namespace);
      execute({ kind: "allocate-memory", namespace, sizeBytes: 100, label: "" });
    }
    ask(createUser("ada", { role: "member", namespaces: ["a", "b"] }));
    replica.lead({ kind: "verify-user", userId: "ada", tokenSha256: TOKEN_SHA256, passwordHash: "" });
    const ada = { subject: "ada", apiKeyId: "" };
    const stored = ["a", "b"].reduce((sum, namespace) => {
      const { bytes, event_bytes: eventBytes } = readNamespaceUsage(cluster.state, namespace);
      return sum + bytes + eventBytes;
    }, 0);
    expect(stored).greaterThan(0);
    const levels = async (principal: Principal, request: Partial<UsageRequest> = {}) => {
      const { totals } = await usage(request, principal);
      return [totals.bytes_stored, totals.memory_bytes];
    };
    expect(await levels(ada)).deep.equal([stored, 200]);
    expect((await levels(owner))[1]).equal(300);
    cluster.clock.wall += 2 * DAY_MS;
    put(ada, "a");
    expect(await levels(ada, { to: "2027-05-11" }), "of a time that is over").deep.equal([null, null]);
    expect((await levels(owner, { to: "2027-05-11" }))[1]).equal(300);
    const { buckets } = await usage({}, ada);
    expect(buckets.map((day) => [day.requests, day.bytes_stored, day.memory_bytes])).deep.equal([[1, null, null]]);
  });

  it("shows the usage of namespaces to callers who may read them, the one nearest to a limit first", async () => {
    for (const namespace of ["a", "b", "c", "empty"]) {
      execute({ kind: "create-namespace", namespace });
    }
    for (const namespace of ["a", "b", "b", "c"]) {
      put(owner, namespace);
    }
    ask(createUser("ada", { role: "viewer", namespaces: ["a", "b", "empty", "not-there-yet"] }));
    replica.lead({ kind: "verify-user", userId: "ada", tokenSha256: TOKEN_SHA256, passwordHash: "" });
    const limits = { "quota.namespace.keys": "10", "quota.namespace.b.keys": "2", "quota.namespace.c.keys": "0" };
    const values = Object.entries(limits).map(([name, value]) => ({ name, value }));
    replica.lead({ kind: "put-settings", values, ifRevision: 0, subject: "admin", request: null });
    const keys = ({ namespaces }: UsageBody) => {
      return namespaces.map(({ namespace, quotas }) => `${namespace} ${quotas.keys.used} of ${quotas.keys.limit}`);
    };
    expect(keys(await usage())).deep.equal(["c 1 of 0", "b 1 of 2", "a 1 of 10"]);
    const ada = { subject: "ada", apiKeyId: "" };
    expect(keys(await usage({}, ada))).deep.equal(["b 1 of 2", "a 1 of 10"]);
    tokenNamespaces = ["a"];
    expect(keys(await usage({}, ada)), "a token for fewer").deep.equal(["a 1 of 10"]);
    expect(keys(await usage()), "also of who may touch all").deep.equal(["a 1 of 10"]);
  });

  it("refuses a bad period and names the field", async () => {
    const refusals: readonly (readonly [string, Partial<UsageRequest>])[] = [
      ["granularity", { granularity: "week" }],
      ["from", { from: "yesterday" }],
      ["from", { from: "2027-13-01" }],
      ["from", { from: "2027-02-29", to: "2027-03-05" }],
      ["to", { to: "2027-04-31T00:00:00Z" }],
      ["to", { to: "1e3" }],
      ["to", { to: "" }],
      ["to", { to: "1969-12-31" }],
      ["from", { from: "2027-05-12", to: "2027-05-11" }],
      ["from", { from: "2027-01-01", to: "2027-04-12" }],
    ];
    for (const [field, request] of refusals) {
      let thrown: unknown;
      await usage(request).catch((error: unknown) => {
        thrown = error;
      });
      expect(thrown, JSON.stringify(request)).instanceOf(CoordinationError);
      expect((thrown as CoordinationError).details.get("field"), JSON.stringify(request)).equal(field);
    }
    await usage({ from: "2027-01-01", to: "2027-04-11" });
    await usage({ from: "2028-02-29", to: "2028-02-29T23:59:59+14:00" });
  });
});
