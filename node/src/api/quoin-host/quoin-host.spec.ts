import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, constants } from "node:http2";
import { gzipSync } from "node:zlib";
import { Client, compressionAlgorithms, credentials, Metadata } from "@grpc/grpc-js";
import { AcquireLockRequest, GetKeyRequest, PutKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { GrpcPorts, grpcFrame, HalfOpenConnection, rawGrpcCall, until } from "../../../test/harness/index.ts";
import { Metrics } from "../../telemetry/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../connections/index.ts";
import { HTTP2_METRICS } from "./http2-metrics.ts";
import { WireCall } from "./wire-call.ts";

const { getKey, putKey } = serviceDefinitions.KeyValueService;
const { watchKeys } = serviceDefinitions.WatchService;
const { acquireLock, createLock } = serviceDefinitions.LockService;
const PUT = PutKeyRequest.fromPartial({ namespace: "default", key: "k", value: Buffer.from("v") });
const PUT_FRAME = grpcFrame(PutKeyRequest.encode(PUT).finish());

describe("the host of Quoin", () => {
  let ports: GrpcPorts;
  let token: string;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    token = await ports.token();
  });

  afterEach(() => ports.close());

  function rawHeaders() {
    return { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID() };
  }

  function call(headers: Readonly<Record<string, string>> = {}, body: Buffer = PUT_FRAME, path: string = putKey.path) {
    return rawGrpcCall(ports.publicPort, path, { ...rawHeaders(), ...headers }, body);
  }

  it("refuses requests that are not gRPC with HTTP statuses", async () => {
    for (const type of ["application/grpc-web", "application/json", "text/grpc", ""]) {
      const { headers, grpcStatus } = await call({ "content-type": type });
      expect([headers[":status"], grpcStatus], type).to.deep.equal([415, "undefined"]);
    }
    const put = await call({ ":method": "PUT" });
    expect([put.headers[":status"], put.headers.allow]).to.deep.equal([405, "POST"]);
    expect(ports.replica.proposed.length).to.equal(0);
  });

  it("ends an idle connection that has shown no good token after a minute, and no other one", async () => {
    const target = `http://127.0.0.1:${ports.publicPort}`;
    const { now } = performance;
    const [unknown, refused, known] = [connect(target), connect(target), connect(target)];
    const request = (token: string) => ({
      ":method": "POST",
      ":path": putKey.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...rawHeaders(),
      authorization: `Bearer ${token}`,
    });
    try {
      for (const [session, shown] of [
        [refused, "x.y.z"],
        [known, token],
      ] as const) {
        const stream = session.request(request(shown)).resume();
        stream.end(PUT_FRAME);
        await once(stream, "close");
      }
      const ended = [unknown, refused].map((session) => once(session, "close"));
      performance.now = () => now.call(performance) + 61_000;
      await Promise.all(ended);
      expect(known.closed).to.equal(false);
      const again = known.request(request(token)).resume();
      again.end(PUT_FRAME);
      const [headers] = await once(again, "response");
      expect(headers[":status"]).to.equal(200);
    } finally {
      performance.now = now;
      for (const session of [unknown, refused, known]) {
        session.destroy();
      }
    }
  });

  it("takes every form of the gRPC content type", async () => {
    for (const type of ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"]) {
      expect((await call({ "content-type": type })).grpcStatus, type).to.equal("0");
    }
  });

  it("answers UNIMPLEMENTED for unknown methods, whatever their names", async () => {
    for (const path of ["/", "/coordination.v1.KeyValueService/Other", "/constructor", `${putKey.path}/`, "/%"]) {
      const { headers, grpcStatus } = await call({}, PUT_FRAME, path);
      expect([headers[":status"], grpcStatus], path).to.deep.equal([200, "12"]);
      expect(decodeURIComponent(String(headers["grpc-message"]))).to.include(`the method ${path}`);
    }
  });

  it("repeats only the beginning of a long path or encoding", async () => {
    const frame = grpcFrame(gzipSync(Buffer.alloc(0)));
    frame.writeUInt8(1, 0);
    for (const answer of [
      await call({}, PUT_FRAME, `/${"é".repeat(10_000)}`),
      await call({ "grpc-encoding": "x".repeat(20_000) }, frame),
    ]) {
      expect(answer.grpcStatus).to.equal("12");
      expect(decodeURIComponent(String(answer.headers["grpc-message"]))).to.have.length.within(100, 300);
    }
  });

  it("refuses a malformed grpc-timeout", async () => {
    for (const timeout of ["1", "1.5S", "123456789m"]) {
      const { headers, grpcStatus } = await call({ "grpc-timeout": timeout });
      expect(grpcStatus, timeout).to.equal("3");
      expect(headers["grpc-message"]).to.match(/^grpc-timeout must be a whole number/);
    }
    expect(ports.replica.proposed.length).to.equal(0);
    expect((await call({ "grpc-timeout": "99999999H" })).grpcStatus).to.equal("0");
  });

  it("takes requests that are compressed with gzip, from a client that compresses them", async () => {
    const client = new Client(`127.0.0.1:${ports.publicPort}`, credentials.createInsecure(), {
      "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
    });
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(rawHeaders())) {
      metadata.set(name, value);
    }
    const request = { ...PUT, value: Buffer.alloc(100_000, "v") };
    const error = await new Promise((resolve) => {
      client.makeUnaryRequest(
        putKey.path,
        putKey.requestSerialize,
        putKey.responseDeserialize,
        request,
        metadata,
        resolve,
      );
    });
    client.close();
    expect(error).to.equal(null);
    const found = await ports.caller(token).ask(getKey, { namespace: "default", key: "k" });
    expect(found.response?.value.length).to.equal(100_000);
  });

  it("checks the token before it reports an error in the bytes of a request", async () => {
    const frame = grpcFrame(gzipSync(Buffer.alloc(0)));
    frame.writeUInt8(1, 0);
    const bearer = `Bearer ${token.slice(0, -8)}AAAAAAAA`;
    const headers = { authorization: bearer, "grpc-encoding": "br" };
    for (const body of [
      frame,
      PUT_FRAME.subarray(0, -1),
      Buffer.alloc(5, 0xff),
      Buffer.concat([PUT_FRAME, PUT_FRAME]),
    ]) {
      expect((await call(headers, body)).grpcStatus).to.equal("16");
    }
    const unknown = await call({ "grpc-encoding": "br" }, frame);
    expect([unknown.grpcStatus, unknown.headers["grpc-accept-encoding"]]).to.deep.equal(["12", "identity,gzip"]);
    expect(ports.replica.proposed.length).to.equal(0);
  });

  it("refuses two messages for a method that takes one, and one and a half", async () => {
    for (const path of [putKey.path, watchKeys.path]) {
      const two = await call({}, Buffer.concat([PUT_FRAME, PUT_FRAME]), path);
      expect(two.grpcStatus, path).to.equal("12");
      const half = await call({}, Buffer.concat([PUT_FRAME, PUT_FRAME.subarray(0, 7)]), path);
      expect([half.grpcStatus, half.headers["error-reason"]], path).to.deep.equal(["3", "BAD_FIELD"]);
    }
    expect(ports.replica.proposed.length).to.equal(0);
  });

  it("forgets the metadata of a stream that nothing needs any more", async () => {
    const { values } = WireCall.prototype;
    const calls = new Set<WireCall>();
    WireCall.prototype.values = function (this: WireCall, name: string) {
      calls.add(this);
      return values.call(this, name);
    };
    try {
      const metadata = new Map(Object.entries({ ...rawHeaders(), "x-large": "x".repeat(10_000) }));
      const connection = await HalfOpenConnection.open({ port: ports.publicPort, path: watchKeys.path, metadata });
      const request = grpcFrame(
        WatchKeysRequest.encode(WatchKeysRequest.fromPartial({ namespace: "default" })).finish(),
      );
      await connection.sendData(await connection.openCalls(1), request);
      await until("the headers to be checked", () => calls.size === 1);
      const [call] = calls;
      await until("them to be forgotten", () => call?.values("x-large").length === 0);
      expect(call?.values("request-id")).to.deep.equal([metadata.get("request-id")]);
      expect(call?.values("authorization")).to.deep.equal([]);
      connection.destroy();
    } finally {
      WireCall.prototype.values = values;
    }
  });

  it("ignores metadata that it does not use", async () => {
    const metadata = { "x-trace-bin": "YQ==, Yg", "x-other-bin": "%", "x-text": "ü" };
    expect((await call(metadata)).grpcStatus).to.equal("0");
  });

  it("opens no stream whose deadline has passed", async () => {
    const request = grpcFrame(WatchKeysRequest.encode(WatchKeysRequest.fromPartial({ namespace: "default" })).finish());
    const answer = await call({ "grpc-timeout": "0m" }, request, watchKeys.path);
    expect([answer.grpcStatus, answer.headers["error-reason"]]).to.deep.equal(["4", "DEADLINE"]);
    expect(ports.publicServer.watches.statistics).to.deep.include({ streams: 0, messagesSent: 0 });
  });

  it("logs once that it closes a connection because its client misbehaves", async () => {
    const stranger = await HalfOpenConnection.open({ port: ports.publicPort, path: putKey.path });
    await stranger.openCalls(101);
    await until("the cut", () => stranger.isClosed);
    const [line, ...others] = ports.warned;
    expect(others).to.deep.equal([]);
    const { address, ...fields } = line?.fields ?? {};
    expect(fields).to.deep.equal({ port: "grpc", reason: "too-many-refused-calls", notLogged: 0 });
    expect(address).to.match(/^127\.0\.0\.1:\d+$/);
  });

  for (const [what, fields] of [
    ["unknown methods", { ":method": "POST", ":path": "/a.B/C", "content-type": "application/grpc" }],
    ["another verb", { ":method": "PUT", ":path": putKey.path, "content-type": "application/grpc" }],
    ["another content type", { ":method": "POST", ":path": putKey.path, "content-type": "text/plain" }],
    [
      "malformed timeouts",
      { ":method": "POST", ":path": putKey.path, "content-type": "application/grpc", "grpc-timeout": "x" },
    ],
  ] as const) {
    it(`cuts a connection without a token after 100 requests with ${what}, and counts them`, async () => {
      const session = connect(`http://127.0.0.1:${ports.publicPort}`);
      session.on("error", () => undefined);
      const code = new Promise((resolve) => session.once("goaway", resolve));
      for (let requests = 0; requests < 101; requests++) {
        session.request(fields).on("error", () => undefined);
      }
      expect(await code).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      const refused = ports.publicServer.callAdmissions[0]?.refusals.get("otherRequests")?.get("member");
      expect(refused).to.equal(101);
      session.destroy();
    });
  }

  it("cuts a connection with a good token after a flood of requests for unknown methods", async () => {
    const session = connect(`http://127.0.0.1:${ports.publicPort}`);
    session.on("error", () => undefined);
    const code = new Promise((resolve) => session.once("goaway", resolve));
    const good = { ":method": "POST", ":path": putKey.path, "content-type": "application/grpc", ...rawHeaders() };
    const stream = session.request(good).on("error", () => undefined);
    stream.end(PUT_FRAME);
    await new Promise((resolve) => stream.once("response", resolve));
    for (let requests = 0; requests < 400; requests++) {
      session.request({ ...good, ":path": "/a.B/C" }).on("error", () => undefined);
    }
    expect(await code).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  });

  it("sends a client that calls too much a GOAWAY with the reason", async () => {
    const session = connect(`http://127.0.0.1:${ports.publicPort}`);
    session.on("error", () => undefined);
    const code = new Promise((resolve) => session.once("goaway", resolve));
    for (let calls = 0; calls < 101; calls++) {
      const fields = { ":method": "POST", ":path": putKey.path, "content-type": "application/grpc" };
      session.request(fields).on("error", () => undefined);
    }
    expect(await code).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  });

  it("counts a call as open until its client has received the answer", async () => {
    await ports.close();
    ports = await GrpcPorts.founded({
      clientLimits: { ...DEFAULT_CLIENT_LIMITS, calls: { member: 10, address: 10, user: 1 } },
    });
    token = await ports.token();
    expect((await ports.caller(token).call(putKey, { ...PUT, value: Buffer.alloc(1_000_000) })).code).to.equal("OK");
    const session = connect(`http://127.0.0.1:${ports.publicPort}`);
    const stream = session.request({
      ":method": "POST",
      ":path": getKey.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...rawHeaders(),
    });
    stream.end(grpcFrame(GetKeyRequest.encode(GetKeyRequest.fromPartial({ namespace: "default", key: "k" })).finish()));
    await new Promise((resolve) => stream.once("response", resolve));
    const refused = await call();
    expect([refused.grpcStatus, refused.headers["error-reason"]]).to.deep.equal(["8", "TOO_MANY_STREAMS"]);
    stream.resume();
    await until("room", async () => (await call()).grpcStatus === "0");
    session.close();
  });

  it("lets calls wait while the client does not take the answers before them, until their deadlines", async () => {
    const owner = ports.caller(token);
    expect((await owner.call(putKey, { ...PUT, value: Buffer.alloc(1_000_000) })).code).to.equal("OK");
    const session = connect(`http://127.0.0.1:${ports.publicPort}`);
    const lock = { namespace: "default", name: "l" };
    expect((await owner.ask(createLock, { ...lock, ttlSeconds: 60n })).code).to.equal("OK");
    const get = grpcFrame(GetKeyRequest.encode(GetKeyRequest.fromPartial({ namespace: "default", key: "k" })).finish());
    const acquire = grpcFrame(
      AcquireLockRequest.encode(AcquireLockRequest.fromPartial({ ...lock, owner: "o" })).finish(),
    );
    const begin = (more = {}, path: string = getKey.path, message = get) => {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        ...rawHeaders(),
        ...more,
      });
      stream.end(message);
      const status = new Promise((resolve) => {
        stream.once("response", (fields) => "grpc-status" in fields && resolve(fields["grpc-status"]));
        stream.once("trailers", (fields) => resolve(fields["grpc-status"]));
      });
      return { stream, status, responded: once(stream, "response") };
    };
    const first = Array.from({ length: 17 }, () => begin());
    await Promise.all(first.map(({ responded }) => responded));
    const waiting = Array.from({ length: 20 }, () => begin());
    const late = begin({ "grpc-timeout": "50m" });
    expect(await late.status).to.equal("4");
    // What may wait for a lock does not take a place of those that wait for the client.
    const acquired = begin({}, acquireLock.path, acquire);
    acquired.stream.resume();
    await acquired.responded;
    expect(waiting.map(({ stream }) => stream.aborted || stream.destroyed)).to.not.include(true);
    for (const { stream } of [...first, ...waiting]) {
      stream.resume();
    }
    const statuses = await Promise.all([...first, ...waiting].map(({ status }) => status));
    expect(new Set(statuses)).to.deep.equal(new Set(["0"]));
    session.close();
  });

  it("does not log connections that end normally", async () => {
    expect((await call()).grpcStatus).to.equal("0");
    await until("the end", () => ports.publicServer.http2.counters?.connectionsClosed === 1);
    expect(ports.warned).to.deep.equal([]);
  });

  it("counts connections, streams and bytes", async () => {
    await call();
    await call({}, PUT_FRAME, "/unknown");
    await until("the ends", () => ports.publicServer.http2.counters?.connectionsClosed === 2);
    const metrics = new Metrics(() => 0);
    metrics.add(HTTP2_METRICS, ports.publicServer.http2);
    const text = await metrics.metrics();
    expect(text).to.match(/^quoin_http2_connections 0$/m);
    expect(text).to.match(/^quoin_http2_connections_opened_total 2$/m);
    expect(text).to.match(/^quoin_http2_streams 0$/m);
    expect(text).to.match(/^quoin_http2_streams_opened_total 2$/m);
    expect(text).to.match(/^quoin_http2_bytes_total\{direction="received"\} [1-9]/m);
  });

  it("sends waiting messages of a stream as its client reads, and loses none", async () => {
    const owner = ports.caller(token);
    const session = connect(`http://127.0.0.1:${ports.publicPort}`);
    const stream = session.request({
      ":method": "POST",
      ":path": watchKeys.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...rawHeaders(),
    });
    stream.end(grpcFrame(WatchKeysRequest.encode(WatchKeysRequest.fromPartial({ namespace: "default" })).finish()));
    await new Promise((resolve) => stream.once("response", resolve));
    stream.pause();
    const value = Buffer.alloc(100_000, "v");
    for (let puts = 0; puts < 20; puts++) {
      expect((await owner.call(putKey, { ...PUT, value })).code).to.equal("OK");
    }
    let received = 0;
    stream.on("data", (bytes: Buffer) => {
      received += bytes.length;
    });
    stream.resume();
    await until("all of it", () => received > 20 * value.length);
    stream.destroy();
    session.close();
    await until("the end of the watch", () => ports.publicServer.watches.statistics.streams === 0);
  });
});
