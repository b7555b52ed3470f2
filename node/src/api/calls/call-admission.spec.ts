import { randomUUID } from "node:crypto";
import { GetKeyRequest, PutKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { service as healthService } from "grpc-health-check";
import { GrpcPorts, grpcFrame, HalfOpenConnection, rawGrpcCall, until } from "../../../test/harness/index.ts";
import { Access } from "../../access/index.ts";
import { type ClientLimits, DEFAULT_CLIENT_LIMITS, REQUEST_MS } from "../connections/index.ts";

const { createNamespace, getKey, putKey } = serviceDefinitions.KeyValueService;
const { createLock } = serviceDefinitions.LockService;
const { watchKeys } = serviceDefinitions.WatchService;
const GET = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
const PUT = PutKeyRequest.fromPartial({ namespace: "default", key: "k" });
const OTHER_ADDRESS = "127.0.0.2";
const REQUEST_ID = "0189f7f1-2345-7abc-8def-0123456789ab";
const MANY = 1_000_000_000;
const FREE = { member: MANY, address: MANY, user: MANY };

describe("CallAdmission", () => {
  let ports: GrpcPorts;
  let token: string;
  let connections: HalfOpenConnection[];

  beforeEach(() => {
    connections = [];
  });

  afterEach(async () => {
    for (const connection of connections) {
      connection.destroy();
    }
    await ports.close();
  });

  async function serve(limits: Partial<ClientLimits> = {}): Promise<void> {
    ports = await GrpcPorts.founded({ clientLimits: { ...DEFAULT_CLIENT_LIMITS, ...limits } });
    token = await ports.token();
  }

  async function halfOpen(
    path: string,
    { from = "127.0.0.1", bearer = token }: { from?: string; bearer?: string | null } = {},
  ): Promise<HalfOpenConnection> {
    const metadata = new Map([
      ["api-version", "v1"],
      ["request-id", REQUEST_ID],
    ]);
    if (bearer !== null) {
      metadata.set("authorization", `Bearer ${bearer}`);
    }
    const connection = await HalfOpenConnection.open({ port: ports.publicPort, from, path, metadata });
    connections.push(connection);
    return connection;
  }

  /** Number of calls that this limit refused, by scope. */
  function refusals(limit: string): Record<string, number> {
    const found = [...(ports.publicServer.callAdmissions[0]?.refusals ?? [])].find(([name]) => name === limit);
    return Object.fromEntries(found?.[1] ?? []);
  }

  /** Waits for the answer to a call with a message; data that other connections sent before are then processed. */
  async function verdict(bearer = token): Promise<readonly string[]> {
    const { code, reason } = await ports.caller(bearer).call(getKey, GET);
    return [code, reason];
  }

  it("refuses a call without a valid token when its headers arrive, and closes it", async () => {
    await serve();
    const connection = await halfOpen(putKey.path, { bearer: null });
    await connection.openCalls(3);
    await until("the refusals", () => connection.answered === 3 && connection.reset === 3);
    expect(connection.isClosed).to.equal(false);
    const watch = await halfOpen(watchKeys.path, { bearer: "e30" });
    await watch.openCalls(3);
    await until("the refusals", () => watch.answered === 3 && watch.reset === 3);
  });

  it("checks api-version and request-id when the headers arrive", async () => {
    await serve();
    const metadata = new Map([["authorization", `Bearer ${token}`]]);
    const connection = await HalfOpenConnection.open({ port: ports.publicPort, path: putKey.path, metadata });
    connections.push(connection);
    await connection.openCalls(1);
    await until("the refusal", () => connection.answered === 1 && connection.reset === 1);
  });

  it("authenticates each call once", async () => {
    await serve();
    const { authenticate } = Access.prototype;
    let times = 0;
    Access.prototype.authenticate = function (...args) {
      times++;
      return authenticate.apply(this, args);
    };
    try {
      for (let calls = 0; calls < 3; calls++) {
        expect(await verdict()).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
      }
    } finally {
      Access.prototype.authenticate = authenticate;
    }
    expect(times).to.equal(3);
  });

  it("refuses a request that is not complete in time, as certainly not executed", async () => {
    await serve();
    const connection = await halfOpen(putKey.path);
    const call = await connection.openCalls(1);
    const frame = grpcFrame(PutKeyRequest.encode(PUT).finish());
    // Only the end of the stream is missing.
    await connection.sendData(call, frame);
    expect(await verdict()).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
    expect(connection.answered).to.equal(0);
    ports.elapse(REQUEST_MS);
    await until("the refusal", () => connection.answered === 1 && connection.reset === 1);
    expect(refusals("requestMs")).to.deep.equal({ member: 1 });
    expect(await verdict(), "it was not executed").to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
    const late = rawGrpcCall(ports.publicPort, putKey.path, rawHeaders(), frame, { endStream: false });
    await until("the refusal", () => {
      ports.elapse(REQUEST_MS);
      return refusals("requestMs").member === 2;
    });
    const { headers } = await late;
    expect([headers["grpc-status"], headers["error-reason"], headers.outcome]).to.deep.equal([
      ...["4", "DEADLINE", "not-executed"],
    ]);
  });

  it("closes a connection after many refused calls, unless a token was verified on it", async () => {
    await serve({ calls: { ...FREE, user: 1 } });
    const stranger = await halfOpen(putKey.path, { bearer: null });
    const member = await halfOpen(putKey.path);
    for (let calls = 0; calls < 200; calls++) {
      await stranger.openCalls(1);
      await member.openCalls(1);
    }
    await until("the refusals", () => member.answered === 199);
    await until("the cut", () => stranger.isClosed);
    expect(stranger.answered).to.be.below(200);
    expect(member.isClosed).to.equal(false);
  });

  it("closes connections that open too many calls without a verified token, and no others", async () => {
    await serve({ unverifiedCalls: { member: 100, address: 20 } });
    // It takes a while to check that its signature is wrong.
    const bearer = `${token.slice(0, -8)}AAAAAAAA`;
    const flood = await halfOpen(putKey.path, { from: OTHER_ADDRESS, bearer });
    await flood.openCalls(100);
    await until("the cut", () => flood.isClosed);
    expect(Object.keys(refusals("unverifiedCalls"))).to.deep.equal(["address"]);
    expect(await verdict()).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
    const slow = await halfOpen(putKey.path, { from: OTHER_ADDRESS, bearer });
    await slow.openCalls(10);
    await until("the refusals", () => slow.answered === 10);
    expect(slow.isClosed).to.equal(false);
  });

  for (const [scope, named, limit] of [
    ["user", "user", "5"],
    // Its only user leaves a share for the next one.
    ["address", "user", "3"],
    ["member", "member", "5"],
  ] as const) {
    it(`bounds the calls of one ${scope}, and names the limit`, async () => {
      await serve({ calls: { ...FREE, [scope]: 5 } });
      const connection = await halfOpen(putKey.path);
      const owner = ports.caller(token);
      const refusal = await until("the limit", async () => {
        // A call that competes with the call below for the last place is refused; the next one gets it.
        await connection.openCalls(5);
        const answer = await owner.call(getKey, GET);
        return answer.reason === "TOO_MANY_STREAMS" && answer;
      });
      expect(refusal.code).to.equal("RESOURCE_EXHAUSTED");
      expect(refusal.trailers.get("outcome")).to.deep.equal(["not-executed"]);
      expect(refusal.details?.metadata).to.deep.equal(
        new Map([
          ["limit", limit],
          ["scope", named],
        ]),
      );
      connection.destroy();
      await until("room", async () => (await owner.call(getKey, GET)).reason === "KEY_NOT_FOUND");
    });
  }

  it("counts calls and streams separately", async () => {
    await serve({ calls: { ...FREE, member: 2 }, streams: { ...FREE, member: 2 } });
    const owner = ports.caller(token);
    const request = WatchKeysRequest.fromPartial({ namespace: "default" });
    const streams = [owner.stream(watchKeys, request), owner.stream(watchKeys, request)];
    for (const stream of streams) {
      await stream.until("created", ([first]) => first?.created);
    }
    const refused = await owner.stream(watchKeys, request).ended();
    expect([refused.code, refused.reason]).to.deep.equal(["RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS"]);
    expect(await verdict()).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
    const calls = await halfOpen(putKey.path);
    await until("no room for calls", async () => {
      await calls.openCalls(2);
      return (await verdict())[1] === "TOO_MANY_STREAMS";
    });
    streams[0]?.cancel();
    await until("room for a stream", async () => {
      const stream = owner.stream(watchKeys, request);
      return await until("its end or begin", () => stream.end !== null || stream.messages.length > 0).then(() => {
        const isOpen = stream.end === null;
        stream.cancel();
        return isOpen;
      });
    });
  });

  it("bounds the bytes of open requests, including the cost of each piece", async () => {
    await serve({ requestBytes: { ...FREE, user: 64 * 1024 } });
    const connection = await halfOpen(putKey.path);
    const large = grpcFrame(Buffer.alloc(1024 * 1024)).subarray(0, 16 * 1024);
    for (let calls = 1; calls <= 3; calls++) {
      await connection.sendData(await connection.openCalls(1), large);
    }
    expect(await verdict()).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
    const tiny = await connection.openCalls(1);
    for (let pieces = 0; pieces < 100; pieces++) {
      await connection.sendData(tiny, large.subarray(pieces, pieces + 1));
    }
    await until("the refusal", () => connection.answered === 1);
    expect(refusals("requestBytes")).to.deep.equal({ user: 1 });
    connection.destroy();
    const owner = ports.caller(token);
    await until(
      "room",
      async () => (await owner.call(putKey, { ...PUT, value: Buffer.alloc(32 * 1024) })).code === "OK",
    );
  });

  it("bounds calls that need no token", async () => {
    await serve({ openCalls: { member: 3, address: 2 } });
    const { path } = healthService.Check as unknown as { readonly path: string };
    const connection = await halfOpen(path, { bearer: null });
    await connection.openCalls(4);
    await until("the refusals", () => connection.answered === 2);
    expect(refusals("openCalls")).to.deep.equal({ address: 2 });
    const other = await halfOpen(path, { from: OTHER_ADDRESS, bearer: null });
    await other.openCalls(2);
    await until("the refusal", () => other.answered === 1);
    expect(refusals("openCalls")).to.deep.equal({ address: 2, member: 1 });
    expect(await verdict()).to.deep.equal(["NOT_FOUND", "KEY_NOT_FOUND"]);
  });

  it("bounds a request that carries no data of its client before it decodes it", async () => {
    await serve();
    const owner = ports.caller(token);
    const large = "x".repeat(64 * 1024);
    const refused = await owner.call(getKey, { ...GET, key: large });
    expect([refused.code, refused.reason]).to.deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
    expect(refused.message).to.contain("the request must have at most 65536 bytes");
    const watch = await owner
      .stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default", prefix: large }))
      .ended();
    expect([watch.code, watch.message]).to.deep.equal(["INVALID_ARGUMENT", refused.message]);
    expect((await owner.call(putKey, { ...PUT, value: Buffer.from(large) })).code).to.equal("OK");
  });

  it("leaves a share of what all clients have together for the next address", async () => {
    await serve({ openCalls: { member: 16, address: 15 } });
    const { path } = healthService.Check as unknown as { readonly path: string };
    const took: number[] = [];
    for (const from of ["127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"]) {
      const before = refusals("openCalls").address ?? 0;
      const connection = await halfOpen(path, { from, bearer: null });
      await connection.openCalls(16);
      await until("the refusals", () => connection.answered > 0 && ports.publicServer.callAdmissions[0] !== undefined);
      await until("all of them", () => connection.answered === (refusals("openCalls").address ?? 0) - before);
      took.push(16 - connection.answered);
    }
    expect(took).to.deep.equal([8, 4, 2, 1]);
    expect(refusals("openCalls").member).to.equal(undefined);
  });

  describe("a request that ends before its message is complete", () => {
    const whole = grpcFrame(PutKeyRequest.encode(PUT).finish());
    for (const [name, bytes] of [
      ["nothing", Buffer.alloc(0)],
      ["half of the prefix", whole.subarray(0, 3)],
      ["the prefix alone", whole.subarray(0, 5)],
      ["all but the last byte", whole.subarray(0, -1)],
    ] as const) {
      it(`is INVALID_ARGUMENT: ${name}`, async () => {
        await serve();
        for (const path of [putKey.path, watchKeys.path]) {
          const { headers } = await rawGrpcCall(ports.publicPort, path, rawHeaders(), bytes);
          expect([headers["grpc-status"], headers["error-reason"], headers.outcome], path).to.deep.equal([
            ...["3", "BAD_FIELD", "not-executed"],
          ]);
        }
      });
    }
  });

  it("lets ordinary calls through: several at a time, on one connection", async () => {
    await serve();
    const owner = ports.caller(token);
    await owner.ask(createNamespace, { namespace: "prod" });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => owner.ask(createLock, { namespace: "prod", name: `l${index}` })),
    );
    expect(answers.map(({ code }) => code)).to.deep.equal(Array(200).fill("OK"));
  });

  function rawHeaders() {
    return { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID() };
  }
});
