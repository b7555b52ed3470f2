import { serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import type { Principal } from "../../state/index.ts";
import { messagePlan } from "../json/index.ts";
import type { AnsweredCall } from "./answered-call.ts";
import type { PortContext } from "./checked-call.ts";
import { notServed, type ServedMethod, type ServiceHandlers, serve } from "./served-method.ts";

const { ClusterService, LockService, WatchService } = serviceDefinitions;
const ignore = (): void => undefined;
/** These specs make no served call, so nothing of the port is read. */
const port = {} as PortContext<{ readonly principal: Principal }>;

function handlersOf(waiting: Partial<ServiceHandlers<typeof LockService>>): ServiceHandlers<typeof LockService> {
  return {
    createLock: ignore,
    describeLock: ignore,
    acquireLock: ignore,
    releaseLock: ignore,
    forceReleaseLock: ignore,
    createRWLock: ignore,
    describeRWLock: ignore,
    acquireRWLock: ignore,
    releaseRWLock: ignore,
    listLocks: ignore,
    listLockWaits: ignore,
    deleteLock: ignore,
    deleteRWLock: ignore,
    setLockValue: ignore,
    createSemaphore: ignore,
    describeSemaphore: ignore,
    acquireSemaphore: ignore,
    releaseSemaphore: ignore,
    updateSemaphore: ignore,
    deleteSemaphore: ignore,
    ...waiting,
  };
}

/** Methods by their full names. */
function byPath(methods: readonly ServedMethod[]): ReadonlyMap<string, ServedMethod> {
  return new Map(methods.map((method) => [method.definition.path, method]));
}

describe("serve", () => {
  it("serves every method of the definition, with its path and its kind, to callers with a token", () => {
    const methods = serve(port, WatchService, { watchKeys: ignore, watchLocks: ignore, listStreams: ignore });
    const kinds = methods.map(({ definition, checks }) => [definition.path, definition.responseStream, checks]);
    expect(kinds).to.deep.equal([
      ["/coordination.v1.WatchService/WatchKeys", true, "token"],
      ["/coordination.v1.WatchService/WatchLocks", true, "token"],
      ["/coordination.v1.WatchService/ListStreams", false, "token"],
    ]);
  });

  it("leaves requests and the messages of streams as bytes", () => {
    const [watchKeys] = serve(port, WatchService, { watchKeys: ignore, watchLocks: ignore, listStreams: ignore });
    const bytes = Buffer.from("ff", "hex");
    expect(watchKeys?.definition.requestDeserialize(bytes)).to.equal(bytes);
    expect(watchKeys?.definition.responseSerialize(bytes)).to.equal(bytes);
  });

  it("knows which calls last as long as their clients want: streams, and methods that wait for a lock", () => {
    const waiting = { waitMs: () => 0, handle: ignore };
    const methods = byPath(serve(port, LockService, handlersOf({ acquireLock: waiting })));
    expect(methods.get(LockService.acquireLock.path)?.mayWait).to.equal(true);
    expect(methods.get(LockService.createLock.path)?.mayWait).to.equal(false);
    const [watchKeys] = serve(port, WatchService, { watchKeys: ignore, watchLocks: ignore, listStreams: ignore });
    expect(watchKeys?.mayWait).to.equal(true);
  });

  it("knows as methods whose requests carry data those whose requests have bytes", () => {
    const methods = Object.values(serviceDefinitions).flatMap((service) => Object.values(service));
    const withBytes = methods.filter(({ requestCodec }) =>
      messagePlan(requestCodec.$type).fields.some(({ kind }) => kind === "bytes"),
    );
    // With `carriesData` where they are served: public-server.ts, memory-service.ts, event-log-service.ts. The value of a
    // hold and the metadata of a session are short.
    expect(withBytes.map(({ path }) => path.split("/").at(-1))).to.deep.equal([
      ...["PutKey", "CompareAndSwap", "AcquireLock", "SetLockValue", "WriteMemory", "CreateSession"],
      ...["AppendEvent", "AppendEvents"],
    ]);
  });

  it("refuses the calls of a method that is not served here, and names the method", () => {
    const [getCluster] = serve(port, ClusterService, { getCluster: notServed("is served elsewhere") });
    expect(getCluster?.checks).to.equal("none");
    const ended: string[] = [];
    const call = { end: ({ message }) => void ended.push(message) } as AnsweredCall<never>;
    getCluster?.handler(call, Buffer.alloc(0));
    expect(ended).to.deep.equal(["GetCluster is served elsewhere"]);
  });

  it("is a type error with a missing or a misnamed handler, or with a handler of another kind", () => {
    // @ts-expect-error: watchLocks is missing
    expect(() => serve(port, WatchService, { watchKeys: ignore, listStreams: ignore })).to.throw(
      "every method of the contract has a handler",
    );
    // @ts-expect-error: getClusters is no method
    serve(port, ClusterService, { getCluster: ignore, getClusters: ignore });
    // @ts-expect-error: a stream has no options
    serve(port, WatchService, { watchKeys: { handle: ignore }, watchLocks: ignore, listStreams: ignore });
    // @ts-expect-error: the request of watchKeys is no request of watchLocks
    const watchLocks: ServiceHandlers<typeof WatchService>["watchLocks"] = (_call, request: { prefix: string }) =>
      request;
    expect(watchLocks).to.be.a("function");
  });
});
