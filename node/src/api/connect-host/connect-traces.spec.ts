/** Traces of calls over HTTP: the HTTP port begins each, and either the call or the port ends it. */

import { connect } from "node:net";
import { expect } from "chai";
import { ConnectPort, GrpcPorts, until } from "../../../test/harness/index.ts";
import { RequestLog } from "../../telemetry/index.ts";
import { Tracer } from "../../tracing/index.ts";
import { ClientAddresses, RequestObserver } from "../http/index.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const SAMPLED = { traceparent: `00-${TRACE_ID}-${CALLER}-01` };
const GET_KEY = "coordination.v1.KeyValueService/GetKey";
const NOT_FOUND = 5;
const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;
const CANCELLED = 1;

type Spans = Parameters<ConstructorParameters<typeof Tracer>[0]["queue"]["add"]>[0];

describe("traces of calls over HTTP", () => {
  let tracer: Tracer;
  let ports: GrpcPorts;
  let http: ConnectPort;
  let token: string;
  let observer: RequestObserver;
  let made: Spans[number][];

  before(async () => {
    const monotonicMs = () => performance.now();
    const queue = { hasSpace: true, add: (spans: Spans) => void made.push(...spans) };
    tracer = new Tracer({ sampler: { name: "parentbased_always_off", ratio: 0 }, slowMs: 0, queue, monotonicMs });
    ports = await GrpcPorts.founded({ tracer });
    const log = new RequestLog(
      { debug: () => undefined, warn: () => undefined, isLevelEnabled: () => false },
      0,
      monotonicMs,
    );
    observer = new RequestObserver(log, monotonicMs, new ClientAddresses(), tracer);
    token = await ports.token();
    http = await ConnectPort.open(ports, token, undefined, observer);
  });

  beforeEach(() => {
    made = [];
  });

  after(async () => {
    await http?.close();
    await ports?.close();
  });

  /** The only server span, once its request is over. */
  async function serverSpan(): Promise<Spans[number]> {
    await until("the span", () => {
      tracer.makeSpans(true);
      return made.length > 0;
    });
    // A second one would come with the end of the request at the latest.
    await until("the end of the request", () => observer.inFlight === 0);
    tracer.makeSpans(true);
    const spans = made.filter(({ kind }) => kind === "server");
    expect(spans.map(({ name }) => name)).to.have.lengthOf(1);
    return spans[0] as Spans[number];
  }

  it("have one server span of the call, with its method and its parent", async () => {
    const body = { namespace: "default", key: "no such key" };
    const id = "123e4567-e89b-42d3-a456-426614174000";
    const { status } = await http.call("KeyValueService/GetKey", { headers: { ...SAMPLED, "request-id": id }, body });
    expect(status).to.equal(404);
    const span = await serverSpan();
    expect(span).to.include({ name: GET_KEY, traceId: TRACE_ID, parentId: CALLER, hasRemoteParent: true, error: "" });
    expect(span.attributes).to.deep.equal({
      "rpc.system": "connect_rpc",
      "rpc.service": "coordination.v1.KeyValueService",
      "rpc.method": "GetKey",
      "rpc.grpc.status_code": NOT_FOUND,
      "quoin.namespace": "default",
      "quoin.reason": "KEY_NOT_FOUND",
      "quoin.request_id": id,
    });
    expect(span.events.map(({ name }) => name)).to.deep.equal(["request admitted", "request complete"]);
  });

  for (const [fault, headers, code] of [
    ["a version of the protocol that does not exist", { "connect-protocol-version": "2" }, INVALID_ARGUMENT],
    ["an impossible timeout", { "connect-timeout-ms": "soon" }, INVALID_ARGUMENT],
    ["an unknown encoding", { "content-encoding": "br" }, UNIMPLEMENTED],
    ["an api-version that does not exist", { "api-version": "v9" }, null],
  ] as const) {
    it(`have one server span of a call that is refused for ${fault}`, async () => {
      const { status } = await http.call("KeyValueService/GetKey", { headers: { ...SAMPLED, ...headers } });
      expect(status).to.be.within(400, 501);
      const span = await serverSpan();
      expect(span).to.include({ name: GET_KEY, traceId: TRACE_ID, parentId: CALLER });
      expect(span.attributes["rpc.system"]).to.equal("connect_rpc");
      if (code !== null) {
        expect(span.attributes["rpc.grpc.status_code"]).to.equal(code);
      }
    });
  }

  for (const [what, method, headers, code, name] of [
    ["a content type", "KeyValueService/GetKey", { "content-type": "text/plain" }, 415, `POST /${GET_KEY}`],
    ["a method", "KeyValueService/NoSuchMethod", {}, 501, "POST none"],
  ] as const) {
    it(`have one server span of a request for ${what} that is not served`, async () => {
      const { status } = await http.call(method, { headers: { ...SAMPLED, ...headers } });
      const span = await serverSpan();
      expect(span).to.include({ name, traceId: TRACE_ID, parentId: CALLER });
      expect([span.attributes["http.response.status_code"], span.attributes["rpc.system"]]).to.deep.equal([
        status,
        undefined,
      ]);
      expect(status).to.equal(code);
    });
  }

  it("have one server span of a call whose client leaves before its request is complete", async () => {
    const { port, hostname } = new URL(http.origin);
    const client = connect(Number(port), hostname);
    const head = [
      `POST /${GET_KEY} HTTP/1.1`,
      ...[`Host: ${hostname}`, "Content-Type: application/json", "Content-Length: 100"],
      `Authorization: Bearer ${token}`,
      `Traceparent: ${SAMPLED.traceparent}`,
    ];
    client.write(`${head.join("\r\n")}\r\n\r\n{`);
    await until("the call", () => ports.observer.methods.some(({ inFlight }) => inFlight > 0));
    client.destroy();
    const span = await serverSpan();
    expect([span.name, span.attributes["rpc.grpc.status_code"]]).to.deep.equal([GET_KEY, CANCELLED]);
  });

  it("are not made for calls that are not sampled", async () => {
    await http.call("KeyValueService/GetKey", { headers: { traceparent: `00-${TRACE_ID}-${CALLER}-00` } });
    await http.call("KeyValueService/GetKey");
    await http.call("KeyValueService/GetKey", { headers: SAMPLED });
    await serverSpan();
  });
});
