import { status } from "@grpc/grpc-js";
import { RequestCounts_Kind as Kind, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { DurationHistogram, REQUEST_BOUNDS } from "../../telemetry/index.ts";
import { MethodCalls } from "../calls/index.ts";
import { type ObservedRequests, requestsBetween, requestTotals } from "./request-totals.ts";

const NOTHING: ObservedRequests = { calls: { methods: [] }, requests: { routes: [] } };

function calls(
  path: string,
  codes: Readonly<Record<number, number>>,
  { ms = [] as readonly number[], mayWait = false, responseStream = false } = {},
): MethodCalls {
  const made = new MethodCalls({ path: `/coordination.v1.${path}`, responseStream, mayWait });
  for (const [code, count] of Object.entries(codes)) {
    made.codes[Number(code)] = count;
  }
  for (const one of ms) {
    made.durations.addMs(one);
  }
  return made;
}

function route(path: string, statuses: Readonly<Record<string, number>>, ms: readonly number[] = []) {
  const durations = new DurationHistogram(REQUEST_BOUNDS);
  for (const one of ms) {
    durations.addMs(one);
  }
  return { method: "GET", route: path, statuses: new Map(Object.entries(statuses)), durations };
}

/** The requests of each kind, without durations. */
function countsOf(observed: ObservedRequests): [Kind, number, number, number][] {
  const counts = requestsBetween(requestTotals(NOTHING), requestTotals(observed));
  return counts.map(({ kind, ok, refused, failed }) => [kind, ok, refused, failed]);
}

describe("the totals of requests", () => {
  it("count the calls of services by kind and result, and no streams, health checks or reflection", () => {
    const methods = [
      calls("KeyValueService/GetKey", { [status.OK]: 5, [status.NOT_FOUND]: 2, [status.UNAVAILABLE]: 1 }),
      calls("KeyValueService/ListKeyVersions", { [status.OK]: 1 }),
      calls("KeyValueService/PutKey", { [status.OK]: 3, [status.ABORTED]: 1, [status.DEADLINE_EXCEEDED]: 2 }),
      calls("LockService/AcquireLock", { [status.OK]: 4, [status.CANCELLED]: 1 }, { mayWait: true }),
      calls("MemoryService/ReadMemory", { [status.INTERNAL]: 1, [status.UNKNOWN]: 1, [status.DATA_LOSS]: 1 }),
      calls("ClusterAdminService/GetStatus", { [status.OK]: 1, [status.UNIMPLEMENTED]: 1 }),
      calls("WatchService/WatchKeys", { [status.OK]: 9 }, { responseStream: true }),
      new MethodCalls({ path: "/grpc.health.v1.Health/Check", responseStream: false, mayWait: false }),
    ];
    (methods.at(-1) as MethodCalls).codes[status.OK] = 7;
    expect(countsOf({ ...NOTHING, calls: { methods } })).to.deep.equal([
      [Kind.KEY_READ, 6, 2, 1],
      [Kind.KEY_WRITE, 3, 1, 2],
      [Kind.LOCK, 4, 1, 0],
      [Kind.MEMORY, 0, 0, 3],
      [Kind.OTHER, 1, 1, 0],
    ]);
  });

  it("count every method of the contract, except streams", () => {
    for (const { path, responseStream } of Object.values(serviceDefinitions).flatMap((one) => Object.values(one))) {
      const name = path.replace("/coordination.v1.", "");
      const methods = [calls(name, { [status.OK]: 1 }, { responseStream })];
      expect(countsOf({ ...NOTHING, calls: { methods } }), name).to.have.length(responseStream ? 0 : 1);
    }
    const methods = ["EventLogService/AppendEvent", "AccountService/Login", "TransactionService/Transact"].map((name) =>
      calls(name, { [status.OK]: 1 }),
    );
    expect(countsOf({ ...NOTHING, calls: { methods } }).map(([kind]) => kind)).to.deep.equal([
      ...[Kind.KEY_WRITE, Kind.EVENT_LOG, Kind.OTHER],
    ]);
  });

  it("count the requests of routes, but no health checks, metrics, watches, or calls of services", () => {
    const routes = [
      route("/logs/{log_id}/append", { "200": 2, "409": 1, "503": 1 }),
      route("/logs", { aborted: 1 }),
      route("/auth/token", { "200": 1, "401": 1 }),
      route("/readyz", { "200": 50 }),
      route("/metrics", { "200": 50 }),
      route("/v1/watch/keys", { "200": 50 }),
      route("/coordination.v1.KeyValueService/GetKey", { "200": 50 }),
    ];
    expect(countsOf({ ...NOTHING, requests: { routes } })).to.deep.equal([
      [Kind.EVENT_LOG, 2, 2, 1],
      [Kind.OTHER, 1, 1, 0],
    ]);
  });

  it("have the quantiles of the durations in between, without calls that may wait", () => {
    const before = requestTotals({
      calls: { methods: [calls("KeyValueService/GetKey", { [status.OK]: 3 }, { ms: [900, 900, 900] })] },
      requests: { routes: [] },
    });
    const ms = Array.from({ length: 100 }, () => 2);
    const methods = [
      calls("KeyValueService/GetKey", { [status.OK]: 103 }, { ms: [900, 900, 900, ...ms] }),
      calls("LockService/AcquireLock", { [status.OK]: 1 }, { ms: [50_000], mayWait: true }),
    ];
    const counts = requestsBetween(before, requestTotals({ calls: { methods }, requests: { routes: [] } }));
    expect(counts).to.deep.equal([
      { kind: Kind.KEY_READ, ok: 100, refused: 0, failed: 0, p50Us: 1_750n, p99Us: 2_485n },
      { kind: Kind.LOCK, ok: 1, refused: 0, failed: 0, p50Us: 0n, p99Us: 0n },
    ]);
    expect(requestsBetween(before, before)).to.deep.equal([]);
  });
});
