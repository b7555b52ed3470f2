import { randomUUID } from "node:crypto";
import { PutKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts, grpcFrame, rawGrpcCall, until } from "../../../test/harness/index.ts";
import { Metrics } from "../../telemetry/index.ts";
import { CALL_METRICS } from "./call-observer.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const { createLock, acquireLock } = serviceDefinitions.LockService;
const { watchKeys } = serviceDefinitions.WatchService;
const PUT = PutKeyRequest.fromPartial({ namespace: "default", key: "k" });
const LOCK = { namespace: "default", name: "l" };

describe("CallObserver", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  /** The values of a metric, by their labels. */
  async function valuesOf(name: string): Promise<Record<string, number>> {
    const metrics = new Metrics(() => 0);
    metrics.add(CALL_METRICS, ports.observer);
    const lines = (await metrics.metrics()).split("\n").filter((line) => line.startsWith(`${name}{`));
    return Object.fromEntries(
      lines.map((line) => {
        const [labels, value] = line.slice(name.length).split(" ");
        return [String(labels).replace("coordination.v1.", ""), Number(value)];
      }),
    );
  }

  const inFlightOf = async (service: string, method: string) =>
    (await valuesOf("quoin_grpc_requests_in_flight"))[`{service="${service}",method="${method}"}`];

  it("counts each call once, by its status, and measures its duration", async () => {
    await ports.owner.call(putKey, PUT);
    await ports.owner.call(putKey, PUT);
    await ports.owner.call(putKey, { ...PUT, key: "" });
    await ports.caller("no token").call(putKey, PUT);
    const labels = (code: string) => `{service="KeyValueService",method="PutKey",code="${code}"}`;
    expect(await valuesOf("quoin_grpc_requests_total")).to.deep.equal({
      [labels("OK")]: 2,
      [labels("INVALID_ARGUMENT")]: 1,
      [labels("UNAUTHENTICATED")]: 1,
    });
    const counts = await valuesOf("quoin_grpc_request_duration_seconds_count");
    expect(counts).to.deep.equal({ '{service="KeyValueService",method="PutKey"}': 4 });
    expect(await inFlightOf("KeyValueService", "PutKey")).to.equal(0);
  });

  it("counts calls that the library itself refuses, and calls that end at their deadline", async () => {
    const frame = grpcFrame(Buffer.alloc(0));
    frame.writeUInt32BE(0xffffffff, 1);
    const headers = {
      authorization: `Bearer ${await ports.token()}`,
      "api-version": "v1",
      "request-id": randomUUID(),
    };
    await rawGrpcCall(ports.publicPort, putKey.path, headers, frame);
    await ports.owner.ask(createLock, LOCK);
    await ports.owner.ask(acquireLock, LOCK);
    const late = await ports.owner.ask(
      acquireLock,
      { ...LOCK, waitMs: 60_000n },
      {
        timeoutMs: 50,
      },
    );
    expect(late.code).to.equal("DEADLINE_EXCEEDED");
    const codes = await until("both to be counted", async () => {
      const counted = Object.keys(await valuesOf("quoin_grpc_requests_total"));
      return counted.length === 4 && counted.map((labels) => /method="(\w+)",code="(\w+)"/.exec(labels)?.slice(1));
    });
    expect(codes).to.deep.include(["PutKey", "RESOURCE_EXHAUSTED"]);
    const [, end] = codes.filter((pair) => pair?.[0] === "AcquireLock").map((pair) => pair?.[1]);
    expect(end).to.be.oneOf(["DEADLINE_EXCEEDED", "CANCELLED"]);
    expect(await inFlightOf("LockService", "AcquireLock")).to.equal(0);
  });

  it("counts streams while they are open, then as cancelled, and never measures their duration", async () => {
    const stream = ports.owner.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default" }));
    await stream.until("it to be open", (messages) => messages.length > 0);
    expect(await inFlightOf("WatchService", "WatchKeys")).to.equal(1);
    stream.cancel();
    await until("the end", async () => (await inFlightOf("WatchService", "WatchKeys")) === 0);
    const labels = '{service="WatchService",method="WatchKeys",code="CANCELLED"}';
    expect(await valuesOf("quoin_grpc_requests_total")).to.deep.equal({ [labels]: 1 });
    expect(await valuesOf("quoin_grpc_request_duration_seconds_count")).to.deep.equal({});
  });

  it("logs a valid request id, and why a call failed, and nothing else that the client has sent", async () => {
    const id = randomUUID();
    await ports.owner.call(putKey, PUT, { metadata: new Map([["request-id", id.toUpperCase()]]) });
    await ports.owner.call(putKey, PUT, { metadata: new Map([["request-id", "my-secret"]]) });
    const common = { protocol: "grpc", method: putKey.path };
    expect(ports.requestLines.map(({ durationMs: _, ...line }) => line)).to.deep.equal([
      { ...common, status: "OK", requestId: id, reason: "" },
      { ...common, status: "INVALID_ARGUMENT", requestId: null, reason: "BAD_METADATA" },
    ]);
  });

  it("logs the trace of the caller, if the caller sent a valid one", async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    await ports.owner.call(putKey, PUT, { metadata: new Map([["traceparent", traceparent]]) });
    await ports.owner.call(putKey, PUT, { metadata: new Map([["traceparent", "my-secret"]]) });
    expect(ports.requestLines.map((line) => "trace_id" in line && line.trace_id)).to.deep.equal([
      "4bf92f3577b34da6a3ce929d0e0e4736",
      false,
    ]);
  });
});
