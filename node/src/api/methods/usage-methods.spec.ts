import { expect } from "chai";
import { SingleReplica } from "../../../test/harness/index.ts";
import { createApiKey, createUser, FoundedCluster, TOKEN_SHA256 } from "../../../test/index.ts";
import {
  type Access,
  type ClientOperation,
  CoordinationError,
  includesAccess,
  includesNamespace,
  type Principal,
  readNamespaceUsage,
  refusalOf,
} from "../../state/index.ts";
import type { Call } from "./call.ts";
import { Executor } from "./executor.ts";
import { UsageMethods, type UsageReport, type UsageRequest } from "./usage-methods.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2027, 4, 10);
/** Allows 90 requests per minute. */
const LIMIT = { requests: 15, windowSecs: 10, burst: 1 };
const ZERO = {
  requests: 0,
  appendRequests: 0,
  eventsAppended: 0,
  bytesAppended: 0,
  kvOperations: 0,
  lockOperations: 0,
  memoryOperations: 0,
};

describe("usage in answers", () => {
  let cluster: FoundedCluster;
  let replica: SingleReplica;
  let methods: UsageMethods;
  let owner: Principal;
  let requests = 0;
  /** The user of the tokens. */
  let tokenNamespaces: readonly string[];

  beforeEach(() => {
    tokenNamespaces = ["*"];
    cluster = new FoundedCluster();
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

  function ask(operation: ClientOperation, principal: Principal = owner): void {
    replica.execute({ principal, request: null, operation });
  }

  /** @param most the highest access that the token allows */
  function usage(
    request: Partial<UsageRequest> = {},
    principal: Principal = owner,
    most: Access = "admin",
  ): Promise<UsageReport> {
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
      methods.getUsage(call, { fromMs: null, toMs: null, granularity: "day", ...request }, (answer) => {
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
    const bytes = body.totals.levels?.bytesStored;
    expect(bytes).greaterThan(0);
    const [first, second] = body.buckets;
    expect(body).include({
      startMs: Date.UTC(2027, 4, 1),
      endMs: START_MS + DAY_MS + 5,
      asOfMs: START_MS + DAY_MS + 5,
    });
    expect(body.totals).deep.equal({ ...ZERO, requests: 3, kvOperations: 3, levels: body.totals.levels });
    expect(body.buckets).have.length(2);
    expect(first).include({ startMs: START_MS, ...ZERO, requests: 1, kvOperations: 1 });
    expect(second).include({ startMs: START_MS + DAY_MS, ...ZERO, requests: 2, kvOperations: 2 });
    expect(second?.levels).include({ bytesStored: bytes, memoryBytes: 0 });
    expect(body.byKey).deep.equal([{ apiKeyId: owner.apiKeyId, requests: 3, eventsAppended: 0, bytesAppended: 0 }]);
    expect(body.namespaces).have.length(1);
    const [use] = body.namespaces;
    expect(use?.namespace).equal("default");
    expect(use?.usage).include({
      bytes: 2,
      keys: 1,
      locks: 0,
      memory_bytes: 0,
      event_bytes: 0,
      event_logs: 0,
      sessions: 0,
    });
    expect(use?.limits).include({
      bytes: 8 * 1024 ** 3,
      keys: 10_000_000,
      locks: 1_000_000,
      memory_bytes: 1024 ** 3,
      memory_regions: 100_000,
      event_bytes: 16 * 1024 ** 3,
      event_logs: 10_000,
      sessions: 20_000,
    });
    expect(body.requestsPerMinute).equal(90);
  });

  it("covers a period by hours, from the beginning of an hour, with what was stored at its end", async () => {
    for (let hour = 0; hour < 5; hour++) {
      put();
      cluster.clock.wall += HOUR_MS;
    }
    const body = await usage({
      fromMs: START_MS + 1.5 * HOUR_MS,
      toMs: START_MS + 3 * HOUR_MS,
      granularity: "hour",
    });
    expect(body).include({ startMs: START_MS + HOUR_MS, endMs: START_MS + 3 * HOUR_MS });
    expect(body.buckets.map(({ startMs }) => (startMs - START_MS) / HOUR_MS)).deep.equal([1, 2]);
    expect(body.totals.requests).equal(2);
    expect(body.totals.levels?.bytesStored).equal(body.buckets[1]?.levels?.bytesStored);
    expect(body.byKey.map((key) => key.requests)).deep.equal([2]);
    const later = await usage({ fromMs: START_MS + 3 * DAY_MS, toMs: START_MS + 4 * DAY_MS });
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
    const ids = (body: UsageReport) => body.byKey.map(({ apiKeyId: id }) => id);
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
      return [totals.kvOperations, ...buckets.map((bucket) => bucket.kvOperations)];
    };
    expect(await counted("viewer-a"), "nothing of others").deep.equal([0]);
    expect(await counted("member-a")).deep.equal([9, 1, 8]);
    expect(await counted("admin-a"), "with those whose namespaces an admin holds").deep.equal([11, 3, 8]);
    expect(await counted("member-b")).deep.equal([4, 4]);
    expect(await counted("member-ab")).deep.equal([16, 16]);
    expect(await counted("viewer-all"), "the cluster").deep.equal([31, 7, 24]);
    expect(await counted(cluster.ownerId), "the cluster").deep.equal([31, 7, 24]);
    expect(await counted("admin-a", { toMs: START_MS + HOUR_MS }), "of the first hour").deep.equal([3, 3]);
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
      return [totals.levels?.bytesStored, totals.levels?.memoryBytes];
    };
    expect(await levels(ada)).deep.equal([stored, 200]);
    expect((await levels(owner))[1]).equal(300);
    cluster.clock.wall += 2 * DAY_MS;
    put(ada, "a");
    expect(await levels(ada, { toMs: START_MS + DAY_MS }), "of a time that is over").deep.equal([undefined, undefined]);
    expect((await levels(owner, { toMs: START_MS + DAY_MS }))[1]).equal(300);
    const { buckets } = await usage({}, ada);
    expect(buckets.map((day) => [day.requests, day.levels])).deep.equal([[1, null]]);
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
    const keys = ({ namespaces }: UsageReport) => {
      return namespaces.map(({ namespace, usage, limits }) => `${namespace} ${usage.keys} of ${limits.keys}`);
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
      ["granularity", { granularity: "" }],
      ["from_ms", { fromMs: -1 }],
      ["to_ms", { toMs: -1, fromMs: 0 }],
      ["to_ms", { toMs: 8_640_000_000_000_001, fromMs: 8_640_000_000_000_000 }],
      ["from_ms", { fromMs: START_MS + 2 * DAY_MS, toMs: START_MS + DAY_MS }],
      ["from_ms", { fromMs: START_MS - 101 * DAY_MS, toMs: START_MS }],
    ];
    for (const [field, request] of refusals) {
      let thrown: unknown;
      await usage(request).catch((error: unknown) => {
        thrown = error;
      });
      expect(thrown, JSON.stringify(request)).instanceOf(CoordinationError);
      expect((thrown as CoordinationError).details.get("field"), JSON.stringify(request)).equal(field);
    }
    await usage({ fromMs: START_MS - 100 * DAY_MS, toMs: START_MS });
  });
});
