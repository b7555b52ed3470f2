/**
 * A client on connect-node with its gRPC transport, and a cluster of three; its messages follow from the descriptors
 * alone.
 */
import { randomUUID } from "node:crypto";
import { createFileRegistry, type DescMessage, type DescService, fromBinary, type Message } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import { compressionGzip, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { readDescriptorSet } from "@quoin/proto";
import { expect } from "chai";
import { LocalConformanceCluster } from "../../node/verify/conformance/index.ts";

type Answer = Message & Readonly<Record<string, unknown>>;
type Unary = (request: object, options: CallOptions) => Promise<Answer>;
type Stream = (request: object, options: CallOptions) => AsyncIterable<Answer>;

const START_LIMIT_MS = 300_000;
const CALL_MS = 20_000;
const SHORT_MS = 300;
const LONG_WAIT_MS = 60_000;
const MEBIBYTE = 1024 * 1024;
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));

function service(name: string): DescService {
  return registry.getService(`coordination.v1.${name}`) ?? expect.fail(`the descriptors have no ${name}`);
}

/** The services of one member, on a separate connection. */
class Member {
  readonly keys: Readonly<Record<string, Unary>>;
  readonly locks: Readonly<Record<string, Unary>>;
  readonly watches: Readonly<Record<string, Stream>>;
  readonly #sessions: Http2SessionManager;

  constructor(endpoint: string, compresses: boolean) {
    const baseUrl = `http://${endpoint}`;
    this.#sessions = new Http2SessionManager(baseUrl);
    const compression = compresses ? { sendCompression: compressionGzip } : {};
    const transport = createGrpcTransport({ baseUrl, sessionManager: this.#sessions, ...compression });
    this.keys = createClient(service("KeyValueService"), transport) as unknown as Record<string, Unary>;
    this.locks = createClient(service("LockService"), transport) as unknown as Record<string, Unary>;
    this.watches = createClient(service("WatchService"), transport) as unknown as Record<string, Stream>;
  }

  close(): void {
    this.#sessions.abort();
  }
}

describe("a client on connect-node, at a cluster of three members", function () {
  this.timeout(START_LIMIT_MS);
  let cluster: LocalConformanceCluster | undefined;
  let members: readonly Member[];
  let compressing: Member;
  let token: string;
  let turn = 0;

  before(async () => {
    cluster = await LocalConformanceCluster.start();
    const target = await cluster.target();
    token = target.token;
    members = target.endpoints.map((endpoint) => new Member(endpoint, false));
    compressing = new Member(target.endpoints[1] as string, true);
  });

  after(async () => {
    for (const member of [...(members ?? []), compressing]) {
      member?.close();
    }
    await cluster?.remove();
  });

  /** The member whose turn it is. */
  const next = (): Member => members[turn++ % members.length] as Member;

  const options = (more: CallOptions = {}): CallOptions => ({
    timeoutMs: CALL_MS,
    ...more,
    headers: { authorization: `Bearer ${token}`, "api-version": "v1", "request-id": randomUUID(), ...more.headers },
  });

  const newKey = () => ({ namespace: "default", key: `interop/connect/${randomUUID()}` });

  const call = (
    member: Member,
    group: "keys" | "locks",
    method: string,
    request: object,
    more: CallOptions = {},
  ): Promise<Answer> => (member[group][method] ?? expect.fail(`there is no ${method}`))(request, options(more));

  async function putAndGet(value: Uint8Array, member: Member | null = null, more: CallOptions = {}): Promise<void> {
    const key = newKey();
    await call(member ?? next(), "keys", "putKey", { ...key, value }, more);
    const found = await call(member ?? next(), "keys", "getKey", key, more);
    expect(Buffer.compare(found.value as Uint8Array, value)).to.equal(0);
  }

  async function failure(pending: Promise<unknown>): Promise<ConnectError> {
    const error = await pending.then(() => expect.fail("the call succeeded"), ConnectError.from);
    return error as ConnectError;
  }

  it("writes and reads", async () => {
    for (let at = 0; at < members.length; at++) {
      await putAndGet(Buffer.from("grüße"));
    }
  });

  it("gets the status, the trailers and the details of a refusal", async () => {
    const error = await failure(call(next(), "keys", "getKey", newKey()));
    expect(error.code).to.equal(Code.NotFound);
    expect([error.metadata.get("error-reason"), error.metadata.get("outcome")]).to.deep.equal([
      ...["KEY_NOT_FOUND", "not-executed"],
    ]);
    const info = registry.getMessage("google.rpc.ErrorInfo") as DescMessage;
    const [detail] = error.findDetails(info) as unknown as readonly { readonly reason: string }[];
    expect(detail?.reason).to.equal("KEY_NOT_FOUND");
  });

  it("sends compressed requests", async () => {
    await putAndGet(Buffer.alloc(100_000, "compressed "), compressing);
  });

  it("sends messages up to the limit, and is refused beyond it", async () => {
    await putAndGet(Buffer.alloc(MEBIBYTE, "v"));
    for (const member of [next(), compressing]) {
      const error = await failure(call(member, "keys", "putKey", { ...newKey(), value: Buffer.alloc(5 * MEBIBYTE) }));
      expect(error.code).to.equal(Code.ResourceExhausted);
    }
    await putAndGet(Buffer.from("after that"));
  });

  it("sends binary metadata", async () => {
    await putAndGet(Buffer.from("v"), null, { headers: { "trace-bin": Buffer.from([0, 255, 10]).toString("base64") } });
  });

  it("waits until its deadline, or until it cancels", async () => {
    const lock = { namespace: "default", name: `interop/connect/${randomUUID()}` };
    await call(next(), "locks", "createLock", { ...lock, ttlSeconds: 60 });
    await call(next(), "locks", "acquireLock", { ...lock, owner: "first" });
    const wait = { ...lock, owner: "second", waitMs: LONG_WAIT_MS };
    const late = await failure(call(next(), "locks", "acquireLock", wait, { timeoutMs: SHORT_MS }));
    expect(late.code).to.equal(Code.DeadlineExceeded);
    const signal = AbortSignal.timeout(SHORT_MS);
    const cancelled = await failure(call(next(), "locks", "acquireLock", wait, { signal }));
    expect(cancelled.code).to.equal(Code.Canceled);
    await putAndGet(Buffer.from("after that"));
  });

  it("watches, and cancels", async () => {
    const { namespace, key: prefix } = newKey();
    const end = new AbortController();
    const watch = next().watches.watchKeys ?? expect.fail("there is no watchKeys");
    let seen = 0;
    const watching = (async () => {
      for await (const message of watch({ namespace, prefix }, options({ signal: end.signal }))) {
        if (message.created === true) {
          for (let at = 0; at < 3; at++) {
            await call(next(), "keys", "putKey", { namespace, key: `${prefix}/${at}` });
          }
        }
        seen += (message.events as readonly unknown[]).length;
        if (seen === 3) {
          end.abort();
        }
      }
    })();
    expect((await failure(watching)).code).to.equal(Code.Canceled);
    expect(seen).to.equal(3);
    await putAndGet(Buffer.from("after that"));
  });
});
