/** The services over HTTP, called as curl does and by the client of the Connect project. */

import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { status } from "@grpc/grpc-js";
import {
  CounterSample,
  GetKeyRequest,
  GetKeyResponse,
  GetMemberCountersResponse,
  serviceDefinitions,
  WatchKeysRequest,
} from "@quoin/proto";
import { expect } from "chai";
import { ConnectPort, type GrpcCaller, GrpcPorts, until } from "../../../test/harness/index.ts";
import { RawConnection } from "../../../test/index.ts";
import { DEFAULT_RATE_LIMITS } from "../../access/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../connections/index.ts";
import { contractRegistry } from "../json/index.ts";

const { getKey } = serviceDefinitions.KeyValueService;
const LONG_MS = 600_000;
/** Only a silent body ends a connection. */
const IMPATIENT = {
  headersMs: LONG_MS,
  requestMs: LONG_MS,
  keepAliveMs: LONG_MS,
  answerMs: LONG_MS,
  bodyIdleMs: 20,
};

type UnaryMethod = (request: object, options?: CallOptions) => Promise<object>;

interface WatchMessage {
  readonly created: boolean;
  readonly events: readonly { readonly kv: { readonly value: Uint8Array } }[];
}

/** The methods of the services that these tests call, with plain messages. */
interface AnyClient {
  readonly getKey: UnaryMethod;
  readonly putKey: UnaryMethod;
  readonly deleteKey: UnaryMethod;
  readonly createLock: UnaryMethod;
  readonly acquireLock: UnaryMethod;
  readonly watchKeys: (request: object) => AsyncIterable<WatchMessage>;
}

describe("the services over HTTP", () => {
  let ports: GrpcPorts;
  let http: ConnectPort;
  let grpc: GrpcCaller;
  let token: string;
  /** A key that does not exist before the test. */
  let greeting: { readonly namespace: string; readonly key: string };
  let tests = 0;

  before(async () => {
    ports = await GrpcPorts.founded();
    token = await ports.token();
    http = await ConnectPort.open(ports, token);
    grpc = ports.caller(token);
  });

  beforeEach(() => {
    greeting = { namespace: "default", key: `key-${++tests}` };
  });

  after(async () => {
    await http?.close();
    await ports?.close();
  });

  describe("as curl calls them", () => {
    it("writes and reads a key as text, and makes the request id", async () => {
      const put = await http.call("KeyValueService/PutKey", { body: { ...greeting, value_text: "grüezi" } });
      expect(put.status).to.equal(200);
      expect(put.headers.get("api-version")).to.equal("v1");
      expect(put.json.created).to.equal(true);
      expect(put.json.modRevision).to.match(/^[1-9][0-9]*$/);
      const got = await http.call("KeyValueService/GetKey", { body: greeting });
      expect(got.json).to.deep.include({
        value: Buffer.from("grüezi").toString("base64"),
        valueText: "grüezi",
        modRevision: put.json.modRevision,
        expiresInMs: "0",
      });
    });

    it("needs no content type for a request without a body", async () => {
      const answer = await http.call("ClusterService/GetCluster", { headers: { "content-type": null }, body: "" });
      expect(answer.status, answer.bytes.toString()).to.equal(200);
      expect(answer.json.members).to.have.lengthOf(1);
    });

    it("returns exactly the contract's fields to clients of the protocol", async () => {
      await http.call("KeyValueService/PutKey", { body: { ...greeting, valueText: "hello" } });
      const headers = { "connect-protocol-version": "1" };
      const { json } = await http.call("KeyValueService/GetKey", { headers, body: greeting });
      expect(json.value).to.equal("aGVsbG8=");
      expect(json).not.to.have.property("valueText");
    });

    it("has the same state as gRPC, and takes protobuf too", async () => {
      await http.call("KeyValueService/PutKey", { body: { ...greeting, value: "AAEC" } });
      const overGrpc = await grpc.call(getKey, GetKeyRequest.create(greeting));
      expect(overGrpc.response?.value).to.deep.equal(Buffer.from([0, 1, 2]));
      const answer = await http.call("KeyValueService/GetKey", {
        headers: { "content-type": "application/proto" },
        body: GetKeyRequest.encode(GetKeyRequest.create(greeting)).finish(),
      });
      expect(answer.headers.get("content-type")).to.equal("application/proto");
      expect(GetKeyResponse.decode(answer.bytes)).to.deep.equal(overGrpc.response);
    });

    it("answers a retry with the same request id as the first time, and marks the answer", async () => {
      const request = { headers: { "request-id": randomUUID() }, body: { ...greeting, valueText: "once" } };
      const first = await http.call("KeyValueService/PutKey", request);
      const again = await http.call("KeyValueService/PutKey", request);
      expect(again.json).to.deep.equal(first.json);
      expect([first, again].map(({ headers }) => headers.get("replayed"))).to.deep.equal([null, "true"]);
      const other = await http.call("KeyValueService/PutKey", {
        ...request,
        body: { ...greeting, valueText: "twice" },
      });
      expect(reasonOf(other)).to.equal("REQUEST_ID_REUSED");
    });

    it("waits for a lock as long as the request says, and leaves the queue when the client leaves", async () => {
      const lock = { namespace: "default", name: "nightly" };
      await http.call("LockService/CreateLock", { body: lock });
      const held = await http.call("LockService/AcquireLock", { body: { ...lock, owner: "first" } });
      const leaving = new AbortController();
      const left = fetch(`${http.origin}/coordination.v1.LockService/AcquireLock`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ ...lock, owner: "second", waitMs: 60_000 }),
        signal: leaving.signal,
      }).catch((error: Error) => error.name);
      const waiters = async (): Promise<unknown> =>
        (await http.call("LockService/DescribeLock", { body: lock })).json.waiters;
      await untilEqual(waiters, 1);
      leaving.abort();
      expect(await left).to.equal("AbortError");
      await untilEqual(waiters, 0);
      const { fencingToken } = held.json;
      const waiting = http.call("LockService/AcquireLock", { body: { ...lock, owner: "third", waitMs: "60000" } });
      await untilEqual(waiters, 1);
      await http.call("LockService/ReleaseLock", { body: { ...lock, owner: "first", fencingToken } });
      expect((await waiting).json.acquired).to.equal(true);
    });
  });

  describe("refusals", () => {
    it("have the code, the reason and the details of gRPC, in the body and for curl in headers", async () => {
      const id = randomUUID();
      const refused = await http.call("KeyValueService/GetKey", { headers: { "request-id": id }, body: greeting });
      const overGrpc = await grpc.call(getKey, GetKeyRequest.create(greeting));
      expect(refused.status).to.equal(404);
      expect(refused.headers.get("error-reason")).to.equal("KEY_NOT_FOUND");
      expect(refused.headers.get("outcome")).to.equal("not-executed");
      expect(refused.json.code).to.equal("not_found");
      expect(refused.json.message).to.equal(overGrpc.message);
      const [detail] = refused.json.details;
      expect(detail.type).to.equal("google.rpc.ErrorInfo");
      expect(detail.debug).to.deep.equal({ reason: "KEY_NOT_FOUND", domain: "quoin.dev", metadata: {} });
    });

    for (const [what, request, expected] of [
      ["no token", { headers: { authorization: null } }, [401, "unauthenticated", "TOKEN_INVALID"]],
      ["a token of nobody", { headers: { authorization: "Bearer x" } }, [401, "unauthenticated", "TOKEN_INVALID"]],
      ["another version", { headers: { "api-version": "v2" } }, [400, "invalid_argument", "BAD_METADATA"]],
      ["a request id that is no UUID", { headers: { "request-id": "7" } }, [400, "invalid_argument", "BAD_METADATA"]],
      ["an unknown field", { body: { key: "k", ttl: 3 } }, [400, "invalid_argument", "BAD_FIELD"]],
      ["no JSON", { body: "{" }, [400, "invalid_argument", "BAD_FIELD"]],
      ["a bad field", { body: { namespace: "default" } }, [400, "invalid_argument", "BAD_FIELD"]],
      ["no namespace", { body: { namespace: "none", key: "k" } }, [404, "not_found", "NAMESPACE_NOT_FOUND"]],
      ["no time left", { headers: { "connect-timeout-ms": "0" } }, [504, "deadline_exceeded", "DEADLINE"]],
    ] as const) {
      it(`of a call with ${what}`, async () => {
        const answer = await http.call("KeyValueService/GetKey", { body: greeting, ...request });
        expect([answer.status, answer.json.code, reasonOf(answer)]).to.deep.equal(expected);
        expect(answer.headers.get("www-authenticate")).to.equal(
          answer.status === 401 ? 'Bearer error="invalid_token"' : null,
        );
      });
    }

    it("come in the order of gRPC: the token before the metadata, the metadata before the message", async () => {
      const bad = { "request-id": "7", "api-version": "v2" };
      const without = await http.call("KeyValueService/PutKey", {
        headers: { ...bad, authorization: null },
        body: "{",
      });
      expect(reasonOf(without)).to.equal("TOKEN_INVALID");
      const withToken = await http.call("KeyValueService/PutKey", { headers: bad, body: "{" });
      expect(withToken.json.message).to.include("api-version");
    });

    for (const [what, request, expected] of [
      ["another content type", { headers: { "content-type": "text/plain" } }, [415, "invalid_argument"]],
      [
        "the content type of streams",
        { headers: { "content-type": "application/connect+json" } },
        [415, "invalid_argument"],
      ],
      ["a malformed timeout", { headers: { "connect-timeout-ms": "1s" } }, [400, "invalid_argument"]],
      ["another protocol version", { headers: { "connect-protocol-version": "2" } }, [400, "invalid_argument"]],
      ["an unknown encoding", { headers: { "content-encoding": "br" } }, [501, "unimplemented"]],
      ["broken gzip", { headers: { "content-encoding": "gzip" }, body: "{}" }, [400, "invalid_argument"]],
      ["too large a body", { body: { value: "A".repeat(6 * 1024 * 1024) } }, [429, "resource_exhausted"]],
    ] as const) {
      it(`of a request with ${what}`, async () => {
        const answer = await http.call("KeyValueService/PutKey", request);
        expect([answer.status, answer.json.code]).to.deep.equal(expected);
      });
    }

    it("of gzip that expands beyond the limit of messages", async () => {
      const answer = await http.call("KeyValueService/PutKey", {
        headers: { "content-encoding": "gzip" },
        body: gzipSync(Buffer.alloc(7 * 1024 * 1024, " ")),
      });
      expect(answer.json.code).to.equal("resource_exhausted");
    });

    it("of gzip that becomes a text of millions of values, before it is parsed", async () => {
      for (const [text, problem] of [
        ["[".repeat(6 * 1024 * 1024), "nested deeper than 32 levels"],
        [`{"value":[${"0,".repeat(3_000_000)}0]}`, "at most 21000 names and values"],
      ] as const) {
        const body = gzipSync(text);
        const answer = await http.call("KeyValueService/PutKey", { headers: { "content-encoding": "gzip" }, body });
        expect(reasonOf(answer)).to.equal("BAD_FIELD");
        expect(answer.json.message).to.include(problem);
      }
    });

    it("name a method that the member does not have, or serves on another port", async () => {
      const unknown = await http.call("KeyValueService/RenameKey");
      expect([unknown.status, unknown.json.code]).to.deep.equal([501, "unimplemented"]);
      const admin = await http.call("ClusterAdminService/Bootstrap");
      expect([admin.status, reasonOf(admin)]).to.deep.equal([501, "NOT_SERVED"]);
    });

    it("of another verb name the right one", async () => {
      const response = await fetch(`${http.origin}/coordination.v1.KeyValueService/GetKey`);
      expect([response.status, response.headers.get("allow")]).to.deep.equal([405, "POST"]);
    });

    it("are the answer to a query, which a method does not have", async () => {
      const answer = await http.call("KeyValueService/GetKey?namespace=default", { body: greeting });
      expect([answer.status, answer.json.code]).to.deep.equal([400, "invalid_argument"]);
      expect(answer.json.message).to.include("GetKey takes no query: namespace=default belongs into the body");
    });

    it("are short, whatever was sent", async () => {
      const long = "x".repeat(10_000);
      for (const [path, body] of [
        [`KeyValueService/${long}`, greeting],
        [`KeyValueService/GetKey?${long}`, greeting],
        ["KeyValueService/GetKey", { ...greeting, [long]: 1 }],
      ] as const) {
        const answer = await http.call(path, { body });
        expect(JSON.stringify(answer.json)).to.have.length.below(1_000);
      }
    });

    it("count against the one rate limit of the user, whichever the port", async () => {
      const limits = { ...DEFAULT_RATE_LIMITS, grpc: { requests: 2, windowSecs: 3_600, burst: 2 } };
      const limited = await GrpcPorts.founded({ limits });
      const port = await ConnectPort.open(limited, await limited.token());
      try {
        const overGrpc = await limited.caller(await limited.token()).call(getKey, GetKeyRequest.create(greeting));
        expect(overGrpc.reason).to.equal("KEY_NOT_FOUND");
        expect(reasonOf(await port.call("KeyValueService/GetKey", { body: greeting }))).to.equal("KEY_NOT_FOUND");
        const third = await port.call("KeyValueService/GetKey", { body: greeting });
        expect([third.status, third.json.code, reasonOf(third)]).to.deep.equal([
          ...[429, "resource_exhausted", "RATE_LIMITED"],
        ]);
        expect(third.headers.get("retry-after")).to.match(/^[1-9][0-9]*$/);
      } finally {
        await port.close();
        await limited.close();
      }
    });
  });

  describe("to the client of the Connect project", () => {
    for (const useBinaryFormat of [false, true]) {
      describe(useBinaryFormat ? "with protobuf" : "with JSON", () => {
        function clientOf(service: string): AnyClient {
          const definition = contractRegistry().getService(`coordination.v1.${service}`);
          const transport = createConnectTransport({
            baseUrl: http.origin,
            httpVersion: "1.1",
            useBinaryFormat,
            interceptors: [
              (next) => (request) => {
                request.header.set("authorization", `Bearer ${token}`);
                return next(request);
              },
            ],
          });
          return createClient(definition as never, transport) as unknown as AnyClient;
        }

        it("answers unary calls, with values that are worth gzip", async () => {
          const client = clientOf("KeyValueService");
          const value = new Uint8Array(100_000).fill(7);
          await client.putKey({ ...greeting, value });
          expect(await client.getKey(greeting)).to.deep.include({ value, version: 1n });
        });

        it("raises errors with code, metadata and details", async () => {
          const client = clientOf("KeyValueService");
          const error = await errorOf(() => client.deleteKey(greeting));
          expect([error.code, error.metadata.get("error-reason")]).to.deep.equal([Code.NotFound, "KEY_NOT_FOUND"]);
          const [detail] = error.details as { readonly type: string; readonly value: Uint8Array }[];
          expect(detail?.type).to.equal("google.rpc.ErrorInfo");
        });

        it("observes the deadline of the client", async () => {
          const locks = clientOf("LockService");
          const lock = { namespace: "default", name: `busy-${useBinaryFormat}` };
          await locks.createLock(lock);
          await locks.acquireLock({ ...lock, owner: "first" });
          const error = await errorOf(() =>
            locks.acquireLock({ ...lock, owner: "second", waitMs: 60_000n }, { timeoutMs: 50 }),
          );
          expect(error.code).to.equal(Code.DeadlineExceeded);
        });

        it("streams changes, and ends a stream with the error of gRPC", async () => {
          const watches = clientOf("WatchService");
          const messages = watches.watchKeys({ namespace: "default" });
          for await (const { created, events } of messages) {
            if (created) {
              const { rawHeaders, headers } = http.requests.at(-1) ?? expect.fail("the server got the request");
              expect([rawHeaders, headers], "headers that it still keeps").to.deep.equal([[], {}]);
              await http.call("KeyValueService/PutKey", { body: { ...greeting, valueText: "seen" } });
            }
            if (events.length > 0) {
              expect(Buffer.from(events[0]?.kv.value ?? []).toString()).to.equal("seen");
              break;
            }
          }
          const refused = await errorOf(async () => {
            for await (const _ of watches.watchKeys({ namespace: "none" })) {
              expect.fail("a refused watch has no messages");
            }
          });
          expect([refused.code, refused.metadata.get("error-reason")]).to.deep.equal([
            ...[Code.NotFound, "NAMESPACE_NOT_FOUND"],
          ]);
        });
      });
    }
  });

  it("answers the same to calls that share an answer, each in its own form", async () => {
    const expected = Array.from({ length: 300 }, (_, at) => at + 1);
    ports.samples.push(...expected.map((atMs) => CounterSample.fromPartial({ atMs: BigInt(atMs) })));
    const method = "ClusterAdminService/GetMemberCounters";
    for (const coding of ["gzip", "identity", "gzip", "identity"]) {
      for (const type of ["application/json", "application/proto"]) {
        const isJson = type === "application/json";
        const headers = { "content-type": type, "accept-encoding": coding };
        const answer = await http.call(method, { headers, body: isJson ? {} : new Uint8Array(0) });
        const sentCoding = answer.headers.get("content-encoding");
        expect([answer.status, sentCoding], type).to.deep.equal([200, coding === "gzip" ? "gzip" : null]);
        const [member] = isJson ? answer.json.members : GetMemberCountersResponse.decode(answer.bytes).members;
        const times = member.samples.map(({ atMs }: { readonly atMs: string | bigint }) => Number(atMs));
        expect(times, `${type}, ${coding}`).to.deep.equal(expected);
      }
    }
  });

  it("compresses only answers that are worth it, and only for clients that accept it", async () => {
    await http.call("KeyValueService/PutKey", { body: { ...greeting, valueText: "x".repeat(5_000) } });
    const raw = async (accepted: string): Promise<[string | null, number]> => {
      const { headers, bytes } = await http.call("KeyValueService/GetKey", {
        headers: { "accept-encoding": accepted },
        body: greeting,
      });
      return [headers.get("content-encoding"), bytes.length];
    };
    expect((await raw("gzip"))[0]).to.equal("gzip");
    expect((await raw("gzip;q=0, identity"))[0]).to.equal(null);
    const small = await http.call("KeyValueService/GetKey", { body: { ...greeting, key: "absent" } });
    expect(small.headers.get("content-encoding")).to.equal(null);
    const sent = await http.call("KeyValueService/PutKey", {
      headers: { "content-encoding": "gzip" },
      body: gzipSync(JSON.stringify({ ...greeting, valueText: "packed" })),
    });
    expect(sent.status).to.equal(200);
  });

  it("counts the bytes of a request without its gzip, and frees them when the call ends", async () => {
    const requestBytes = { ...DEFAULT_CLIENT_LIMITS.requestBytes, user: 1024 * 1024 };
    const limits = { ...DEFAULT_CLIENT_LIMITS, requestBytes };
    const limited = await GrpcPorts.founded({ clientLimits: limits });
    const port = await ConnectPort.open(limited, await limited.token());
    try {
      const put = (bytes: number) =>
        port.call("KeyValueService/PutKey", {
          headers: { "content-encoding": "gzip" },
          body: gzipSync(JSON.stringify({ ...greeting, valueText: "x".repeat(bytes) })),
        });
      const refused = await put(2 * 1024 * 1024);
      expect([refused.status, reasonOf(refused)]).to.deep.equal([503, "OVERLOADED"]);
      for (let round = 0; round < 3; round++) {
        expect((await put(500_000)).status).to.equal(200);
      }
    } finally {
      await port.close();
      await limited.close();
    }
  });

  it("forgets calls whose clients leave or stall within a body", async () => {
    const path = "/coordination.v1.KeyValueService/PutKey";
    const calls = ports.observer.callsOf({ path, responseStream: false, mayWait: false });
    const cancelledBefore = calls.codes[status.CANCELLED] ?? 0;
    const stalling = await ConnectPort.open(ports, token, IMPATIENT);
    const head =
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    const open = (origin: string) => RawConnection.open(Number(new URL(origin).port));
    try {
      const leaving = await open(http.origin);
      leaving.send(head);
      await until("the call to begin", () => calls.inFlight === 1);
      leaving.destroy();
      await until("the call to end", () => calls.inFlight === 0);
      const silent = await open(stalling.origin);
      silent.send(head);
      expect(await silent.untilClosed()).to.equal("");
      await until("the call to end", () => calls.inFlight === 0);
      expect((calls.codes[status.CANCELLED] ?? 0) - cancelledBefore).to.equal(2);
    } finally {
      await stalling.close();
    }
  });

  it("refuses a stream whose body is not one message", async () => {
    const message = WatchKeysRequest.encode(WatchKeysRequest.create({ namespace: "default" })).finish();
    const envelope = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
    const headers = { "content-type": "application/connect+proto" };
    for (const body of [Buffer.alloc(0), envelope.subarray(0, -1), Buffer.concat([envelope, envelope])]) {
      const { status, bytes } = await http.call("WatchService/WatchKeys", { headers, body });
      expect(status).to.equal(200);
      expect(bytes[0], "the flag of the last envelope").to.equal(2);
      expect(JSON.parse(bytes.subarray(5).toString()).error.code).to.equal("invalid_argument");
    }
  });
});

function reasonOf({ headers }: { readonly headers: Headers }): string | null {
  return headers.get("error-reason");
}

async function errorOf(action: () => unknown): Promise<ConnectError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof ConnectError) {
      return error;
    }
    throw error;
  }
  return expect.fail("the call succeeded");
}

async function untilEqual(read: () => Promise<unknown>, wanted: unknown): Promise<void> {
  while ((await read()) !== wanted) {
    // Each round is a call, which takes its time.
  }
}
