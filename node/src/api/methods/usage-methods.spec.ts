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
  type Principal,
  refusalOf,
} from "../../state/index.ts";
import type { Call } from "./call.ts";
import { Executor } from "./executor.ts";
import { type UsageBody, UsageMethods, type UsageRequest } from "./usage-methods.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2027, 4, 10);
/** Of which a minute has room for 90. */
const LIMIT = { requests: 15, windowSecs: 10, burst: 1 };
const ZERO = {
  ...{ requests: 0, append_requests: 0, events_appended: 0, bytes_appended: 0, kv_operations: 0 },
  ...{ lock_operations: 0, memory_operations: 0 },
};

describe("usage as it is answered", () => {
  let secrets: FoundingSecrets;
  let cluster: FoundedCluster;
  let replica: SingleReplica;
  let methods: UsageMethods;
  let owner: Principal;
  let requests = 0;

  before(async () => {
    secrets = await foundingSecrets();
  });

  beforeEach(() => {
    cluster = new FoundedCluster(secrets);
    cluster.clock.wall = START_MS;
    replica = new SingleReplica(cluster);
    methods = new UsageMethods(new Executor({ replica }), cluster.clock, () => LIMIT);
    owner = { subject: cluster.ownerId, apiKeyId: cluster.apiKeyId };
  });

  function put(principal: Principal = owner): void {
    const requestId = new Uint8Array(16);
    new DataView(requestId.buffer).setUint32(0, requests++);
    const operation: ClientOperation = {
      ...{
        kind: "put-key" as const,
        namespace: "default",
        key: Buffer.from("k"),
        value: Buffer.from("v"),
        ttlSeconds: 0,
      },
      ...{ expectedModRevision: undefined, returnPrevious: false },
    };
    replica.execute({ principal, request: { requestId, payloadHash: new Uint8Array(32) }, operation });
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
      authorize: (need) => check(need) as undefined,
      recheck: check,
      hasRequestId: false,
      identity: () => expect.fail("requests of HTTP have no request id"),
    };
    return new Promise((resolve, reject) => {
      methods.getUsage(call, { from: null, to: null, granularity: null, ...request }, (answer) => {
        return answer instanceof Error ? reject(answer) : resolve(answer);
      });
    });
  }

  it("is of this month by day, with what is stored now", async () => {
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
      limits: { requests_per_minute: 90 },
      as_of: "2027-05-11T00:00:00.005Z",
    });

    function levels(bytesStored = 0) {
      return { bytes_stored: bytesStored, memory_bytes: 0 };
    }
  });

  it("is of a period by hours, which begins with the hour, and tells what was stored at its end", async () => {
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

  it("shows the keys of others to administrators alone, and everything that was counted to whoever may read", async () => {
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
    expect([ids(bens), bens.totals.requests]).deep.equal([["bens"], 4]);
    expect(ids(await usage({}, { subject: "ada", apiKeyId: "" }))).deep.equal([]);
    expect(ids(await usage({}, owner, "write")), "with a token from before").deep.equal([owner.apiKeyId]);
  });

  it("refuses what is no period, by the field", async () => {
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
