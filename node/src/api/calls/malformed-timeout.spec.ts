import { randomUUID } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts, grpcFrame, rawGrpcCall } from "../../../test/harness/index.ts";
import { Tracer } from "../../tracing/index.ts";

const { path } = serviceDefinitions.KeyValueService.putKey;
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

type Spans = Parameters<ConstructorParameters<typeof Tracer>[0]["queue"]["add"]>[0];

describe("a grpc-timeout that cannot be read", () => {
  let ports: GrpcPorts;
  let token: string;
  let tracer: Tracer;
  let made: Spans[number][];

  before(async () => {
    made = [];
    const queue = { hasSpace: true, add: (spans: Spans) => void made.push(...spans) };
    const sampler = { name: "parentbased_always_off", ratio: 0 } as const;
    tracer = new Tracer({ sampler, slowMs: 0, queue, monotonicMs: () => performance.now() });
    ports = await GrpcPorts.founded({ tracer });
    token = await ports.token();
  });

  after(() => ports.close());

  it("is the client's error, and its call is counted, logged and traced once like any other", async () => {
    const id = randomUUID();
    const { grpcStatus, headers } = await rawGrpcCall(
      ports.publicPort,
      path,
      {
        authorization: `Bearer ${token}`,
        "api-version": "v1",
        "request-id": id,
        "grpc-timeout": "soon",
        traceparent: `00-${TRACE_ID}-${CALLER}-01`,
      },
      grpcFrame(PutKeyRequest.encode(PutKeyRequest.fromPartial({ namespace: "default", key: "k" })).finish()),
    );
    expect(grpcStatus).to.equal(String(status.INVALID_ARGUMENT));
    expect(decodeURIComponent(String(headers["grpc-message"]))).to.include("grpc-timeout must be a whole number");
    expect(ports.replica.proposed).to.have.lengthOf(0);
    const calls = ports.observer.callsOf({ path, responseStream: false, mayWait: false });
    expect([calls.inFlight, calls.codes[status.INVALID_ARGUMENT]]).to.deep.equal([0, 1]);
    expect(calls.codes.reduce((sum, count) => sum + count)).to.equal(1);
    const lines = ports.requestLines.filter(({ method }) => method === path);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ status: "INVALID_ARGUMENT", requestId: id, trace_id: TRACE_ID });
    tracer.makeSpans(true);
    const spans = made.filter(({ kind }) => kind === "server");
    expect(spans).to.have.lengthOf(1);
    expect(spans[0]).to.include({ name: path.slice(1), traceId: TRACE_ID, parentId: CALLER, error: "" });
    expect(spans[0]?.attributes["rpc.grpc.status_code"]).to.equal(status.INVALID_ARGUMENT);
  });
});
