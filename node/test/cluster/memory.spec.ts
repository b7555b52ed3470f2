import {
  AllocateMemoryRequest,
  ListMemoryRegionsRequest,
  ResizeMemoryRequest,
  serviceDefinitions,
  WriteMemoryRequest,
} from "@quoin/proto";
import { expect } from "chai";
import { ClusterUnderTest, GrpcCaller, ok, until } from "../harness/index.ts";

const service = serviceDefinitions.MemoryService;
const NAMESPACE = "default";
const MIB = 1024 * 1024;
/** Bytes of the largest write and read. */
const CHUNK = 4 * MIB - 64 * 1024;
const REGION_BYTES = 64 * MIB;
/** At both ends of the largest region and in its middle, across the borders of pages and segments. */
const OFFSETS = [0, CHUNK, 32 * MIB - 12_345, REGION_BYTES - CHUNK];
/** Two segments. */
const SHARED_BYTES = 1.5 * MIB;

describe("memory regions on three members", () => {
  let cluster: ClusterUnderTest;
  let callers: readonly GrpcCaller[] = [];

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
    const metadata = new Map([
      ["authorization", `Bearer ${await cluster.tokens.token()}`],
      ["api-version", "v1"],
    ]);
    callers = cluster.members.map(({ grpc }) => new GrpcCaller(Number(grpc.split(":")[1]), metadata));
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(async () => {
    for (const caller of callers) {
      caller.close();
    }
    await cluster.dispose();
  });

  function caller(at: number): GrpcCaller {
    return callers[at % callers.length] as GrpcCaller;
  }

  async function allocate(at: number, sizeBytes: number): Promise<string> {
    const request = AllocateMemoryRequest.fromPartial({ namespace: NAMESPACE, sizeBytes: BigInt(sizeBytes) });
    return ok(await caller(at).call(service.allocateMemory, request)).regionId;
  }

  async function write(at: number, regionId: string, offset: number, data: Uint8Array, expectedVersion?: bigint) {
    const version = expectedVersion === undefined ? {} : { expectedVersion };
    const request = WriteMemoryRequest.fromPartial({
      namespace: NAMESPACE,
      regionId,
      offset: BigInt(offset),
      data,
      ...version,
    });
    return caller(at).call(service.writeMemory, request);
  }

  async function read(at: number, regionId: string, offset: number, length: number) {
    const bounds = { offset: BigInt(offset), length: BigInt(length) };
    return ok(await caller(at).ask(service.readMemory, { namespace: NAMESPACE, regionId, ...bounds }));
  }

  it("each takes every mutation, and every other shows it at once to a linearizable read (S33)", async () => {
    const regionId = await allocate(0, SHARED_BYTES);
    const bytes = Buffer.alloc(SHARED_BYTES);
    for (let turn = 0; turn < 6; turn++) {
      const data = Buffer.alloc(9_000, turn + 1);
      const offset = (turn * 300_007) % (SHARED_BYTES - data.length);
      bytes.set(data, offset);
      const { version } = ok(await write(turn, regionId, offset, data, BigInt(turn + 1)));
      expect(version).to.equal(BigInt(turn + 2));
      for (const at of callers.keys()) {
        const answer = await read(at, regionId, 0, SHARED_BYTES);
        expect(answer.version).to.equal(version);
        expect(Buffer.compare(answer.data, bytes)).to.equal(0);
      }
    }
    const resize = ResizeMemoryRequest.fromPartial({ namespace: NAMESPACE, regionId, sizeBytes: 100n });
    expect(ok(await caller(1).call(service.resizeMemory, resize)).previousSizeBytes).to.equal(BigInt(SHARED_BYTES));
    expect((await read(2, regionId, 0, 100)).sizeBytes).to.equal(100n);
    ok(await caller(2).ask(service.freeMemory, { namespace: NAMESPACE, regionId }));
    const list = ListMemoryRegionsRequest.fromPartial({ namespace: NAMESPACE });
    for (const at of callers.keys()) {
      expect(ok(await caller(at).call(service.listMemoryRegions, list)).regions).to.deep.equal([]);
    }
  });

  it("lets one of several concurrent writes with the same expected version win", async () => {
    const regionId = await allocate(0, 10);
    for (let version = 1n; version <= 10n; version++) {
      const answers = await Promise.all(
        callers.map((_, at) => write(at, regionId, 0, Buffer.alloc(10, at + 1), version)),
      );
      const won = answers.findIndex(({ code }) => code === "OK");
      const reasons = answers.map(({ reason }) => reason).toSorted();
      expect(reasons).to.deep.equal(["", "VERSION_MISMATCH", "VERSION_MISMATCH"]);
      const answer = await read(Number(version), regionId, 0, 10);
      expect(Buffer.compare(answer.data, Buffer.alloc(10, won + 1))).to.equal(0);
    }
  });

  it("holds a region of 64 MiB, brings it to a follower that was down, and frees it on all of them", async function () {
    // This much data is written, sent and read several times.
    this.timeout(60_000);
    const follower = await cluster.follower();
    const index = cluster.members.indexOf(follower);
    const regionId = await allocate(0, REGION_BYTES);
    const before = (await follower.status())?.lastIndex ?? 0;
    await follower.kill();
    for (const [at, offset] of OFFSETS.entries()) {
      ok(await write(index + 1 + (at % 2), regionId, offset, Buffer.alloc(CHUNK, at + 1)));
    }
    ok(await write(index + 1, regionId, 32 * MIB - 5, Buffer.from("0123456789")));
    follower.start();
    await follower.untilReady();
    expect((await follower.status())?.lastIndex).to.be.above(before);
    for (const offset of OFFSETS) {
      const here = await read(index, regionId, offset, CHUNK);
      const there = await read(index + 1, regionId, offset, CHUNK);
      expect(Buffer.compare(here.data, there.data), `at ${offset}`).to.equal(0);
      expect(here.version).to.equal(6n);
    }
    expect(Buffer.from((await read(index, regionId, 32 * MIB - 5, 10)).data).toString()).to.equal("0123456789");
    ok(await caller(index).ask(service.freeMemory, { namespace: NAMESPACE, regionId }));
    const hashes = await until("all members to have come equally far", async () => {
      const statuses = await Promise.all(cluster.members.map((member) => member.status()));
      const isEqual = new Set(statuses.map((status) => status?.stateHashIndex)).size === 1;
      return isEqual ? statuses.map((status) => status?.stateHash) : null;
    });
    expect(new Set(hashes).size, "the same state").to.equal(1);
  });
});
