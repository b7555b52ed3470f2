/** The logs of members: lines that programs can parse, every request identifiable, and never a secret. */

import { randomBytes, randomUUID } from "node:crypto";
import { PutKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { generateApiKey } from "../../src/access/index.ts";
import { type ClusterMember, ClusterUnderTest, GrpcCaller, until } from "../harness/index.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const { watchKeys } = serviceDefinitions.WatchService;
const { getStatus } = serviceDefinitions.ClusterAdminService;

/** Everything is logged, and every request counts as slow. */
const FLAGS = ["--log-level", "debug", "--slow-request-ms", "1"];

describe("the log of a member", function () {
  this.timeout(120_000);
  let cluster: ClusterUnderTest;
  let member: ClusterMember;
  let callers: GrpcCaller[];

  before(async () => {
    cluster = await ClusterUnderTest.start(2, { placementOf: async () => ({ flags: FLAGS }) });
    [member] = cluster.members as [ClusterMember];
  });

  beforeEach(() => {
    callers = [];
  });

  afterEach(() => {
    for (const caller of callers) {
      caller.close();
    }
  });

  after(() => cluster.dispose());

  function callerWith(token: string, port = member.ports.grpc): GrpcCaller {
    const metadata = new Map([
      ["authorization", `Bearer ${token}`],
      ["api-version", "v1"],
    ]);
    const caller = new GrpcCaller(port, metadata);
    callers.push(caller);
    return caller;
  }

  /** Lines with this message, once one of them fulfils the condition. */
  async function linesOf(msg: string, isThere: (line: Record<string, unknown>) => boolean) {
    return until(`a line "${msg}"`, () => {
      const lines = member.logLines.filter((line) => line.msg === msg);
      return lines.some(isThere) && lines;
    });
  }

  async function exchange(body: string): Promise<Response> {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`http://${member.host}:${member.ports.http}/auth/token`, {
      method: "POST",
      headers,
      body,
    });
    await response.text();
    return response;
  }

  it("begins with the versions and the configuration, without what is in the files that it names", () => {
    const [first] = member.logLines;
    expect(first).to.include({ level: "info", member: member.name, msg: "starting", node: process.version });
    expect(first?.version).to.match(/^\d+\.\d+\.\d+/);
    expect(first?.configuration).to.include({ name: member.name, dataDirectory: member.dataDirectory });
    expect(first?.configuration).to.have.property("adminTokenFile");
  });

  it("is one JSON object a line, with level, time and member", () => {
    for (const line of member.logLines) {
      expect(line).to.include.keys("level", "time", "member", "msg");
      expect(line.time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  });

  it("has at level debug a line for each call and request, with its id, and one more if it was slow", async () => {
    const id = randomUUID();
    const owner = callerWith(await cluster.tokens.token());
    const put = PutKeyRequest.fromPartial({ namespace: "default", key: "a-key", value: randomBytes(100_000) });
    await owner.call(putKey, put, { metadata: new Map([["request-id", id]]) });
    const lines = await linesOf("request", ({ requestId }) => requestId === id);
    const line = lines.find(({ requestId }) => requestId === id);
    expect(line).to.include({ level: "debug", protocol: "grpc", method: putKey.path, status: "OK", reason: "" });
    expect(line?.durationMs).to.be.a("number");
    // One second has at most this many lines about slow requests, and other requests may have used them.
    const slow = await until("a slow put to be logged", async () => {
      await owner.call(putKey, put);
      return member.logLines.find(({ msg, method }) => msg === "slow request" && method === putKey.path);
    });
    expect(slow).to.include({ level: "warn", protocol: "grpc" });
    const answer = await exchange("{}");
    const httpId = answer.headers.get("Request-Id");
    const requests = await linesOf("request", ({ requestId }) => requestId === httpId);
    expect(requests.find(({ requestId }) => requestId === httpId)).to.include({
      level: "debug",
      protocol: "http",
      method: "POST /auth/token",
      status: "400",
    });
  });

  it("never contains a secret, after right and wrong uses of it", async () => {
    const { apiKey, password, adminToken, joinToken } = cluster.secrets;
    const token = await cluster.tokens.token();
    const wrongKey = generateApiKey();
    const wrongToken = randomBytes(20).toString("hex");
    const value = randomBytes(20).toString("hex");
    const forged = `${token.slice(0, -8)}AAAAAAAA`;
    const before = member.logLines.length;

    for (const key of [apiKey, wrongKey]) {
      await exchange(JSON.stringify({ api_key: key }));
      await exchange(`{"api_key": "${key}", "password": "${password}"`);
      await exchange(JSON.stringify({ password: key, api_key: { token: key } }));
    }
    await fetch(`http://${member.host}:${member.ports.http}/auth/token?api_key=${apiKey}&token=${token}`);
    const put = PutKeyRequest.fromPartial({ namespace: "default", key: value, value: Buffer.from(value) });
    for (const each of [token, forged, wrongToken]) {
      const caller = callerWith(each);
      await caller.call(putKey, put);
      await caller.call(putKey, put, { metadata: new Map([["request-id", each]]) });
      await caller.call(putKey, put, { metadata: new Map([["authorization", `Basic ${each}`]]) });
      const stream = caller.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: each }));
      await stream.ended();
    }
    for (const each of [adminToken, wrongToken, token]) {
      await callerWith(each, member.ports.admin).ask(getStatus, {});
    }
    const login = { email: "owner@quoin.test", password };
    const url = `http://${member.host}:${member.ports.http}/auth/login`;
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(login) });
    expect(answer.status).to.equal(200);
    // 6 exchanges and the one in the address, 9 puts, 3 watches, 3 calls for the status, 1 login.
    await until("a line for each of the 23 requests", () => {
      const requests = member.logLines.slice(before).filter(({ msg }) => msg === "request");
      return requests.length === 23;
    });
    const secrets = { apiKey, password, adminToken, joinToken, token, wrongKey, wrongToken, value };
    const signature = token.split(".")[2] ?? "";
    for (const [name, secret] of Object.entries({ ...secrets, signature, forged })) {
      for (const { output } of cluster.members) {
        expect(output.includes(secret), name).to.equal(false);
      }
    }
  });
});
