import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { MemberRole, MemberState, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import type { Any } from "../../test/api-server/index.ts";
import { clusterOf } from "../../test/index.ts";
import { planCertificates } from "../certificates/index.ts";
import type { MemberAddress } from "./member-channels.ts";
import { MemberClient } from "./member-client.ts";
import { MemberError } from "./member-error.ts";

interface Asked {
  readonly method: string;
  readonly request: Any;
  readonly metadata: Metadata;
}

/** The certificates of a cluster, as the operator makes them. */
async function certificates(): Promise<ReadonlyMap<string, Record<string, string>>> {
  const pass = { now: Date.now(), cluster: clusterOf(), clusterDomain: "cluster.local", reports: new Map() };
  const { writes } = await planCertificates({ ...pass, authority: null, server: null, trust: null });
  return new Map(writes.map(({ kind, name, data }) => [`${kind}/${name}`, data]));
}

describe("client of members", () => {
  const limits = { statusMs: 2_000 };
  const client = new MemberClient(limits);
  let server: Server;
  let asked: Asked[];
  let answer: (method: string) => object | { code: status; details: string; metadata: Metadata };
  let plain: MemberAddress;

  async function serve(credentials: ServerCredentials): Promise<number> {
    server = new Server();
    const methods = Object.keys(serviceDefinitions.ClusterAdminService).filter((method) => method !== "snapshot");
    const handler = (method: string) => (call: Any, done: Any) => {
      asked.push({ method, request: call.request, metadata: call.metadata });
      const result = answer(method);
      done(...("code" in result ? [result] : [null, result]));
    };
    server.addService(
      serviceDefinitions.ClusterAdminService,
      Object.fromEntries(methods.map((method) => [method, handler(method)])),
    );
    return await new Promise((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", credentials, (error, port) => (error === null ? resolve(port) : reject(error)));
    });
  }

  beforeEach(async () => {
    asked = [];
    const port = await serve(ServerCredentials.createInsecure());
    plain = {
      endpoint: `127.0.0.1:${port}`,
      serverName: "demo-0.demo-peers.default.svc",
      authorities: null,
      token: "secret",
    };
  });

  afterEach(() => server.forceShutdown());

  after(() => client.close());

  async function errorOf(work: Promise<unknown>): Promise<MemberError> {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(MemberError);
    return error as MemberError;
  }

  const slot = { id: "12", name: "demo-0", peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "", voter: true };
  const known = {
    clusterId: "c",
    term: 3n,
    configIndex: 12n,
    commitIndex: 40n,
    changing: true,
    leaderId: "12",
    members: [
      { ...slot, incarnation: "ab", lagMs: 7n, contactAgeMs: 9n, promotable: false },
      {
        ...slot,
        id: "13",
        name: "demo-1",
        voter: false,
        incarnation: "",
        lagMs: 0n,
        contactAgeMs: 0n,
        promotable: true,
      },
    ],
  };
  const configuration = {
    term: 3,
    index: 12,
    commitIndex: 40,
    changing: true,
    leaderId: 12,
    members: [
      { id: 12, name: "demo-0", voter: true, incarnation: "ab", lagMs: 7, contactAgeMs: 9, promotable: false },
      { id: 13, name: "demo-1", voter: false, lagMs: 0, contactAgeMs: 0, promotable: true },
    ],
  };
  const memberStatus = {
    id: "12",
    name: "demo-0",
    state: MemberState.RUNNING,
    stateForMs: 5n,
    role: MemberRole.LEADER,
    term: 3n,
    leaderId: "12",
    commitIndex: 0n,
    appliedIndex: 0n,
    firstIndex: 0n,
    lastIndex: 0n,
    revision: 0n,
    dbSizeBytes: 0n,
    diskFreeBytes: 0n,
    version: "1.4.0",
    downgradeFloor: "1.0.0",
    uptimeMs: 0n,
    incarnation: "ab",
    clusterId: "c",
    alarms: [],
    stateHash: "",
    stateHashIndex: 0n,
    certificateSerial: "0A",
    trustedCas: ["f"],
    settingsRevision: 2n,
    lastTerm: 3n,
    foundedFrom: "",
    clockMs: 9n,
  };

  it("dials again after a call that was not answered in time: the connection may have been cut silently", async () => {
    answer = () => ({ status: memberStatus, known });
    const [host = "", port] = plain.endpoint.split(":");
    const sockets: Socket[] = [];
    const between = createServer((socket) => {
      const onward = connect(Number(port), host);
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) {
        end.on("error", () => end.destroy());
        sockets.push(end);
      }
    });
    await once(between.listen(0, host), "listening");
    const cut = { ...plain, endpoint: `${host}:${(between.address() as AddressInfo).port}` };
    try {
      expect((await client.status(cut)).term).to.equal(3);
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
      const { statusMs } = limits;
      limits.statusMs = 50;
      expect((await errorOf(client.status(cut))).code).to.equal("DEADLINE_EXCEEDED");
      limits.statusMs = statusMs;
      expect((await client.status(cut)).term).to.equal(3);
    } finally {
      for (const socket of sockets) {
        socket.destroy();
      }
      between.close();
    }
  });

  it("reads how a member is", async () => {
    answer = () => ({ status: memberStatus, known });
    expect(await client.status(plain)).to.deep.equal({
      leads: true,
      term: 3,
      report: {
        state: "RUNNING",
        stateForMs: 5,
        incarnation: "ab",
        clusterId: "c",
        memberId: 12,
        configuration,
        version: "1.4.0",
        downgradeFloor: "1.0.0",
        certificateSerial: "0A",
        trustedCas: ["f"],
        settingsRevision: 2,
        alarms: [],
        foundedFrom: "",
      },
    });
    const empty = { ...memberStatus, id: "", clusterId: "", state: MemberState.EMPTY, role: MemberRole.FOLLOWER };
    answer = () => ({ status: empty, known: undefined });
    const { report, leads } = await client.status(plain);
    expect([report.state, "memberId" in report, "clusterId" in report, "configuration" in report, leads]).to.deep.equal(
      ["EMPTY", false, false, false, false],
    );
  });

  it("sends its token, and the version that a change is based on", async () => {
    answer = (method) => (method === "listMembers" ? known : { ...known, settingsRevision: 5n, memberId: "" });
    expect(await client.configuration(plain)).to.deep.equal(configuration);
    await client.addSlot(plain, "demo-2", 12);
    await client.promote(plain, [13, 14], 12);
    await client.remove(plain, [13], 12);
    await client.transfer(plain, 13, 3);
    expect(await client.putSettings(plain, new Map([["a", "1"]]), 2)).to.equal(5);
    const owner = { email: "a@b.example", password: "12345678", apiKey: "k" };
    await client.bootstrap(plain, { clusterId: "c", incarnation: "ab", owner });
    expect(asked.slice(1).map(({ method, request }) => [method, request])).to.deep.equal([
      ["addMember", { name: "demo-2", ifConfigIndex: 12n }],
      ["promoteMembers", { ids: ["13", "14"], ifConfigIndex: 12n }],
      ["removeMembers", { ids: ["13"], ifConfigIndex: 12n }],
      ["transferLeadership", { targetId: "13", ifTerm: 3n }],
      ["putSettings", { values: new Map([["a", "1"]]), ifSettingsRevision: 2n }],
      ["bootstrap", { clusterId: "c", incarnation: "ab", owner }],
    ]);
    expect(asked[0]?.metadata.get("authorization")).to.deep.equal(["Bearer secret"]);
    expect(new Set(asked.map(({ metadata }) => metadata.get("request-id")[0])).size).to.equal(asked.length);
  });

  it("distinguishes refusals that call for another observation from unexpected ones", async () => {
    const metadata = new Metadata();
    metadata.set("error-reason", "CONFIG_CHANGED");
    answer = () => ({ code: status.FAILED_PRECONDITION, details: "no", metadata });
    const stale = await errorOf(client.addSlot(plain, "demo-2", 12));
    expect([stale.code, stale.reason, stale.isStale]).to.deep.equal(["FAILED_PRECONDITION", "CONFIG_CHANGED", true]);
    answer = () => ({ code: status.UNAVAILABLE, details: "no leader", metadata: new Metadata() });
    const unknown = await errorOf(client.addSlot(plain, "demo-2", 12));
    expect([unknown.code, unknown.isStale]).to.deep.equal(["UNAVAILABLE", false]);
    expect(unknown.message).to.include("AddMember of demo-0.demo-peers.default.svc");
  });

  it("dials an address, and trusts only a certificate with the member's name from a trusted authority", async () => {
    const [own, other] = [await certificates(), await certificates()];
    server.forceShutdown();
    const { "tls.crt": certificate = "", "tls.key": key = "" } = own.get("Secret/demo-server-tls") ?? {};
    const pair = { cert_chain: Buffer.from(certificate), private_key: Buffer.from(key) };
    const port = await serve(ServerCredentials.createSsl(null, [pair]));
    answer = () => known;
    const authorities = own.get("ConfigMap/demo-ca")?.["ca.crt"] ?? "";
    const encrypted = { ...plain, endpoint: `127.0.0.1:${port}`, authorities };
    expect(await client.configuration(encrypted)).to.deep.equal(configuration);
    const strangers = [
      { ...encrypted, serverName: "demo-0.other-peers.default.svc" },
      { ...encrypted, authorities: other.get("ConfigMap/demo-ca")?.["ca.crt"] ?? "" },
    ];
    for (const stranger of strangers) {
      expect((await errorOf(client.configuration(stranger))).code).to.equal("UNAVAILABLE");
    }
    expect(asked).to.have.length(1);
  });
});
