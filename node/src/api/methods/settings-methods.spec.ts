import { GetStatusRequest, RotateKeysRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { type Answer, type GrpcCaller, GrpcPorts } from "../../../test/harness/index.ts";
import { secrets } from "../../../test/index.ts";
import { readSigningKeys, settingOf } from "../../state/index.ts";

const { getStatus, putSettings, rotateKeys } = serviceDefinitions.ClusterAdminService;
const REQUEST_ID = "6c1c4b6e-9d0a-4d53-8a55-0f4d5f0b8d11";
const WITH_REQUEST_ID = { metadata: new Map([["request-id", REQUEST_ID]]) };
const WITHOUT_REQUEST_ID = { metadata: new Map([["request-id", null]]) };
const LIFETIME = "token.lifetime_secs";

describe("settings and signing keys over gRPC", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  function put(caller: GrpcCaller, value: string, ifSettingsRevision = 0n, options = {}) {
    return caller.call(putSettings, { values: new Map([[LIFETIME, value]]), ifSettingsRevision }, options);
  }

  function verdict({ code, reason, details }: Answer<unknown>): unknown[] {
    return [code, reason, details?.metadata.get("field")];
  }

  async function statusRevision(): Promise<bigint | undefined> {
    const { response } = await ports.admin.call(getStatus, GetStatusRequest.create());
    return response?.status?.settingsRevision;
  }

  it("are changed on both ports, after a barrier, and the status contains the revision", async () => {
    expect(await statusRevision()).equal(0n);
    for (const [at, caller] of [ports.admin, ports.owner].entries()) {
      const { barriers } = ports.member.cluster;
      barriers.length = 0;
      expect((await put(caller, String(100 + at))).response).deep.equal({ settingsRevision: BigInt(at + 1) });
      expect(barriers).have.length(1);
      expect(settingOf(ports.replica.state, LIFETIME)).equal(100 + at);
      expect(await statusRevision()).equal(BigInt(at + 1));
    }
  });

  it("take effect for the next token", async () => {
    await put(ports.admin, "77");
    const issued = await ports.member.access().exchangeApiKey(secrets.apiKey, null, 0);
    expect(issued?.expiresInSecs).equal(77);
  });

  it("are refused by name, and when their revision has changed", async () => {
    expect(verdict(await put(ports.admin, "0"))).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", `values[${LIFETIME}]`]);
    const unknown = { values: new Map([["__proto__", "1"]]), ifSettingsRevision: 0n };
    const answer = await ports.admin.call(putSettings, unknown);
    expect(verdict(answer)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "values[__proto__]"]);
    const misspelt = { values: new Map([["token.lifetime_sec", "1"]]), ifSettingsRevision: 0n };
    const { message } = await ports.admin.call(putSettings, misspelt);
    expect(message).equal("field values[token.lifetime_sec] is unknown; did you mean token.lifetime_secs?");
    const many = new Map(Array.from({ length: 101 }, (_, at) => [String(at), "1"] as const));
    const tooMany = await ports.admin.call(putSettings, { values: many, ifSettingsRevision: 0n });
    expect(verdict(tooMany)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "values"]);
    const moved = await put(ports.admin, "60", 5n);
    expect(verdict(moved).slice(0, 2)).deep.equal(["FAILED_PRECONDITION", "SETTINGS_CHANGED"]);
    expect(moved.details?.metadata.get("settings_revision")).equal("0");
    expect(await statusRevision()).equal(0n);
  });

  it("answer a retry like the first attempt; without a request id they need their condition", async () => {
    await put(ports.admin, "60", 0n, WITH_REQUEST_ID);
    await put(ports.admin, "61");
    const again = await put(ports.admin, "60", 0n, WITH_REQUEST_ID);
    expect([again.response, again.headers.get("replayed")]).deep.equal([{ settingsRevision: 1n }, ["true"]]);
    expect(settingOf(ports.replica.state, LIFETIME)).equal(61);
    const refused = await put(ports.admin, "62", 0n, WITHOUT_REQUEST_ID);
    expect(verdict(refused)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "if_settings_revision"]);
    expect((await put(ports.admin, "62", 2n, WITHOUT_REQUEST_ID)).response).deep.equal({ settingsRevision: 3n });
  });

  it("are refused unless the caller is, and still is, an administrator of the whole cluster", async () => {
    const part = ports.caller(await ports.token({ role: "admin", namespaces: ["default"] }));
    const member = ports.caller(await ports.token({ role: "member", namespaces: ["*"] }));
    for (const [caller, reason] of [
      [part, "NAMESPACE_DENIED"],
      [member, "ACCESS_DENIED"],
    ] as const) {
      expect((await put(caller, "60")).reason).equal(reason);
      expect((await caller.call(rotateKeys, RotateKeysRequest.create())).reason).equal(reason);
    }
    const { owner } = ports;
    ports.member.cluster.changeApiKey({ revokedAtMs: 1 });
    expect((await put(owner, "60")).reason).equal("TOKEN_REVOKED");
    expect((await owner.call(rotateKeys, RotateKeysRequest.create())).reason).equal("TOKEN_REVOKED");
    expect(await statusRevision()).equal(0n);
    expect(readSigningKeys(ports.replica.state)).have.length(1);
  });

  it("rotate the signing key, on both ports; earlier tokens stay valid", async () => {
    const before = await ports.token();
    for (const caller of [ports.admin, ports.owner]) {
      const { response } = await caller.call(rotateKeys, RotateKeysRequest.create());
      expect(readSigningKeys(ports.replica.state)[0]?.kid).equal(response?.kid);
    }
    expect(readSigningKeys(ports.replica.state)).have.length(3);
    const after = await ports.token();
    for (const token of [before, after]) {
      const { principal } = await ports.member.access().authenticate([`Bearer ${token}`], 0);
      expect(principal.subject).equal(ports.member.cluster.ownerId);
    }
    const headerOf = (token: string) => Buffer.from(token.split(".")[0] ?? "", "base64url").toString();
    expect(headerOf(after)).include(readSigningKeys(ports.replica.state)[0]?.kid).not.equal(headerOf(before));
  });

  it("rotate once for one request id, and not without one", async () => {
    const first = await ports.admin.call(rotateKeys, RotateKeysRequest.create(), WITH_REQUEST_ID);
    const again = await ports.admin.call(rotateKeys, RotateKeysRequest.create(), WITH_REQUEST_ID);
    expect(again.response).deep.equal(first.response);
    const without = await ports.admin.call(rotateKeys, RotateKeysRequest.create(), WITHOUT_REQUEST_ID);
    expect(verdict(without).slice(0, 2)).deep.equal(["INVALID_ARGUMENT", "BAD_METADATA"]);
    expect(readSigningKeys(ports.replica.state)).have.length(2);
  });
});
