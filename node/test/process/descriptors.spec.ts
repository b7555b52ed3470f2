import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { GetKeyRequest, PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { GrpcCaller, type Listening, MemberUnderTest, until } from "../harness/index.ts";

const { getKey, putKey } = serviceDefinitions.KeyValueService;
const { getStatus } = serviceDefinitions.ClusterAdminService;
const PUT = PutKeyRequest.fromPartial({ namespace: "default", key: "k" });
const GET = GetKeyRequest.fromPartial({ namespace: "default", key: "k" });
/** Number of file descriptors; clients get half. */
const FEW = 256;
const START_MS = 60_000;

/** Only Linux shows and changes the limit of another process. */
const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("a member whose file descriptors are used up", () => {
  let member: MemberUnderTest;
  let listening: Listening;
  let owner: GrpcCaller;
  let admin: GrpcCaller;
  let sockets: Socket[];

  beforeEach(async function () {
    this.timeout(START_MS);
    sockets = [];
    member = new MemberUnderTest(temporaryDirectory(), { through: ["prlimit", `--nofile=${FEW}:${FEW}`] });
    listening = await member.start();
    owner = callerOf(listening.grpc, await member.token(listening));
    admin = callerOf(listening.admin, member.adminToken);
    expect((await owner.call(putKey, PUT)).code).to.equal("OK");
    expect((await admin.call(getStatus, {})).code).to.equal("OK");
  });

  afterEach(async () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    owner.close();
    admin.close();
    await member.kill();
  });

  function callerOf(endpoint: string, token: string): GrpcCaller {
    const metadata = new Map([
      ["authorization", `Bearer ${token}`],
      ["api-version", "v1"],
    ]);
    return new GrpcCaller(endpoint, metadata);
  }

  function openSockets(count: number, endpoint: string): void {
    for (let opened = 0; opened < count; opened++) {
      const socket = connect(Number(endpoint.split(":")[1]), "127.0.0.1");
      socket.on("error", () => socket.destroy()).resume();
      sockets.push(socket);
    }
  }

  function descriptors(): number {
    return readdirSync(`/proc/${member.process.pid}/fd`).length;
  }

  it("by clients keeps those of its stores and of administrators, and says so", async () => {
    openSockets(FEW, listening.http);
    openSockets(FEW, listening.grpc);
    await until("refusals", () => sockets.filter(({ destroyed }) => destroyed).length >= FEW);
    await until("a line in the log", () => member.process.stdout.includes("a connection was refused"));
    expect(descriptors()).to.be.below(FEW);
    expect((await owner.call(putKey, PUT)).code).to.equal("OK");
    // A member is not ready for a moment while its event loop is late, which many connections at once may cause.
    await until("the member to be ready", async () => (await fetch(`http://${listening.health}/readyz`)).ok);
    const metrics = await (await fetch(`http://${listening.health}/metrics`)).text();
    expect(metrics).to.match(/quoin_connections_refused_total\{port="http",limit="descriptors"[^}]*\} [1-9]/);
    const another = callerOf(listening.admin, member.adminToken);
    expect((await another.call(getStatus, {})).code).to.equal("OK");
    another.close();
  });

  it("altogether goes on serving, says so, and accepts again when there are some", async () => {
    const limit = (descriptors: number) => {
      execFileSync("prlimit", ["--pid", String(member.process.pid), `--nofile=${descriptors}:${FEW}`]);
    };
    limit(descriptors());
    for (const endpoint of [listening.health, listening.admin, listening.http, listening.grpc]) {
      openSockets(FEW / 8, endpoint);
    }
    await until("the refusals", () => sockets.some(({ destroyed }) => destroyed));
    await until("a line in the log", () => member.process.stdout.includes("no file descriptors are left"));
    // Unknown tokens must be read from their file.
    writeFileSync(member.adminTokenFile, `${member.adminToken}\nanother\n`);
    expect((await admin.call(getStatus, {})).code, "may be retried").to.equal("UNAVAILABLE");
    expect((await owner.call(putKey, PUT)).code).to.equal("OK");
    expect((await owner.call(getKey, GET)).code).to.equal("OK");
    expect(member.process.hasEnded).to.equal(false);
    limit(FEW);
    const { response } = await admin.call(getStatus, {});
    expect(response?.status?.alarms.join()).to.match(/no file descriptors are left/);
    await until("new connections", async () => {
      const another = callerOf(listening.grpc, "");
      const { code } = await another.call(getKey, GET);
      another.close();
      return code === "UNAUTHENTICATED";
    });
  });
});
