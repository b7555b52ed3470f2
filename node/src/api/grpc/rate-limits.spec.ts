import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, constants } from "node:http2";
import { ExchangeTokenRequest, GetKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { type Answer, GrpcPorts, grpcFrame } from "../../../test/harness/index.ts";
import { DEFAULT_RATE_LIMITS } from "../../access/index.ts";

const { exchangeToken, requestPasswordReset, verifyEmail } = serviceDefinitions.AccountService;
const { getKey } = serviceDefinitions.KeyValueService;
const { acquireLock, acquireRWLock, createLock, releaseLock, releaseRWLock } = serviceDefinitions.LockService;
const GET = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
const BURST = 5;
/** One per hour: none is added during a test. */
const LIMIT = { requests: 1, windowSecs: 3600, burst: BURST };
const LIMITED = ["RESOURCE_EXHAUSTED", "RATE_LIMITED"];

describe("rate limits of gRPC", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded({ limits: { ...DEFAULT_RATE_LIMITS, grpc: LIMIT } });
  });

  afterEach(() => ports.close());

  async function spend(): Promise<void> {
    for (let calls = 0; calls < BURST; calls++) {
      expect((await ports.owner.call(getKey, GET)).reason).equal("KEY_NOT_FOUND");
    }
  }

  function verdict({ code, reason }: Answer<unknown>): readonly unknown[] {
    return [code, reason];
  }

  it("cut a connection without a token that is refused a hundred times (S43)", async () => {
    await ports.close();
    const tokenRequests = { requests: 1, windowSecs: 3600, burst: 1 };
    ports = await GrpcPorts.founded({ limits: { ...DEFAULT_RATE_LIMITS, tokenRequests } });
    const session = connect(`http://127.0.0.1:${ports.publicPort}`);
    session.on("error", () => undefined);
    const code = new Promise((resolve) => session.once("goaway", resolve));
    for (let calls = 0; calls < 102; calls++) {
      const fields = {
        ":method": "POST",
        ":path": exchangeToken.path,
        "content-type": "application/grpc",
        "api-version": "v1",
        "request-id": randomUUID(),
      };
      const stream = session.request(fields).on("error", () => undefined);
      stream.end(grpcFrame(ExchangeTokenRequest.encode(ExchangeTokenRequest.fromPartial({ apiKey: "none" })).finish()));
      await Promise.race([once(stream.resume(), "close"), code]);
    }
    expect(await code).equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  });

  it("apply to the address of a client that logs in or uses a mailed token", async () => {
    await ports.close();
    const loginRequests = { requests: 1, windowSecs: 3600, burst: 2 };
    ports = await GrpcPorts.founded({ limits: { ...DEFAULT_RATE_LIMITS, loginRequests } });
    const ask = () => ports.caller("no token").ask(verifyEmail, { token: "t" });
    expect(verdict(await ask())).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
    expect(verdict(await ask())).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD"]);
    expect(verdict(await ask())).deep.equal(LIMITED);
    expect(verdict(await ports.owner.ask(requestPasswordReset, { email: "a@b" }))).deep.equal(LIMITED);
  });

  it("refuse calls above the burst, certainly not executed, and say when to retry", async () => {
    await spend();
    const answer = await ports.owner.call(getKey, GET);
    expect(verdict(answer)).deep.equal(LIMITED);
    expect(answer.trailers.get("outcome")).deep.equal(["not-executed"]);
    const delayMs = Number(answer.details?.retryDelayMs);
    expect(delayMs).above(3_590_000).at.most(3_600_000);
  });

  it("apply to the user, with any token", async () => {
    await spend();
    const other = ports.caller(await ports.token({ role: "viewer" }));
    expect(verdict(await other.call(getKey, GET))).deep.equal(LIMITED);
  });

  it("are checked after token, api-version and request-id, before the message and the rights (step 4)", async () => {
    await spend();
    const bytes = Buffer.from(GetKeyRequest.encode(GET).finish());
    bytes[bytes.length - 1] = 0xff;
    const broken = new Map<string, string | null>([
      ["authorization", null],
      ["api-version", "v2"],
      ["request-id", "not a UUID"],
    ]);
    const call = () => ports.owner.call(getKey, bytes, { metadata: broken });
    expect(verdict(await call())).deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
    broken.set("authorization", `Bearer ${await ports.token({ role: "viewer", namespaces: ["prod"] })}`);
    expect(verdict(await call())).deep.equal(["INVALID_ARGUMENT", "BAD_METADATA"]);
    broken.delete("api-version");
    expect(verdict(await call())).deep.equal(["INVALID_ARGUMENT", "BAD_METADATA"]);
    broken.delete("request-id");
    expect(verdict(await call())).deep.equal(LIMITED);
  });

  it("count a call that examines many rows as many", async () => {
    for (let at = 0; at < BURST - 3; at++) {
      expect((await ports.owner.call(getKey, GET)).reason).equal("KEY_NOT_FOUND");
    }
    const principal = { subject: ports.member.cluster.ownerId, apiKeyId: ports.member.cluster.apiKeyId };
    for (let at = 0; at < 250; at++) {
      const key = { namespace: "default", key: Buffer.from(`k${at}`), value: Buffer.from("v"), ttlSeconds: 0 };
      const operation = { kind: "put-key", ...key, expectedModRevision: undefined, returnPrevious: false } as const;
      ports.replica.execute({ principal, operation, request: { requestId: randomBytes(16) } });
    }
    const { listKeys } = serviceDefinitions.KeyValueService;
    const page = await ports.owner.ask(listKeys, { namespace: "default", pageSize: 1_000 });
    expect(page.response?.items.length).equal(250);
    expect(verdict(await ports.owner.call(getKey, GET))).deep.equal(LIMITED);
  });

  it("count watches as one call, when they begin", async () => {
    await spend();
    const { watchKeys } = serviceDefinitions.WatchService;
    const stream = ports.owner.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default" }));
    expect(verdict(await stream.ended())).deep.equal(LIMITED);
  });

  it("never refuse renewals and releases of locks, but acquisitions, also malformed ones", async () => {
    const name = { namespace: "default", name: "l" };
    await ports.owner.ask(createLock, name);
    const { response } = await ports.owner.ask(acquireLock, name);
    const fencingToken = response?.fencingToken ?? 0n;
    await ports.owner.call(getKey, GET);
    await ports.owner.call(getKey, GET);
    await ports.owner.call(getKey, GET);
    expect(verdict(await ports.owner.call(getKey, GET))).deep.equal(LIMITED);
    for (let renewals = 0; renewals < 2 * BURST; renewals++) {
      const renewed = await ports.owner.ask(acquireLock, { ...name, fencingToken });
      expect(renewed.response?.acquired).equal(true);
    }
    expect(verdict(await ports.owner.ask(acquireLock, name))).deep.equal(LIMITED);
    expect(verdict(await ports.owner.call(acquireLock, Buffer.from([0xff])))).deep.equal(LIMITED);
    const released = await ports.owner.ask(releaseLock, { ...name, fencingToken });
    expect(released.response?.released).equal(true);
    const release = await ports.owner.ask(releaseRWLock, { ...name, fencingToken });
    expect(release.reason).equal("LOCK_NOT_FOUND");
    const renewal = await ports.owner.ask(acquireRWLock, { ...name, mode: 1, fencingToken });
    expect(renewal.reason).equal("LOCK_NOT_FOUND");
    expect(verdict(await ports.owner.ask(acquireRWLock, { ...name, mode: 1 }))).deep.equal(LIMITED);
  });
});
