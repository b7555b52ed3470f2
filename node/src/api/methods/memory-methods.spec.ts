import { randomUUID } from "node:crypto";
import {
  AllocateMemoryRequest,
  ListKeysRequest,
  type ListMemoryRegionsResponse,
  ReadConsistency,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import {
  type CallOptions,
  type FieldsOf,
  type GrpcCaller,
  GrpcPorts,
  ok,
  verdict,
} from "../../../test/harness/index.ts";
import { CoordinationError } from "../../state/index.ts";

const service = serviceDefinitions.MemoryService;
const keyValue = serviceDefinitions.KeyValueService;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-80[0-9a-f]{2}-[0-9a-f]{12}$/;
const ABSENT = "00000000-0000-4000-8000-000000000000";
/** Bytes of the largest write and read. */
const DATA_BYTES_MAX = 4 * 1024 * 1024 - 64 * 1024;
const MAX_SAFE = 2n ** 53n - 1n;

describe("MemoryService", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  const allocate = (fields: FieldsOf<typeof service.allocateMemory>, options?: CallOptions) =>
    ports.owner.ask(service.allocateMemory, { namespace: "default", sizeBytes: 100n, ...fields }, options);
  const describeRegion = (fields: FieldsOf<typeof service.describeMemory>) =>
    ports.owner.ask(service.describeMemory, { namespace: "default", ...fields });
  const resize = (fields: FieldsOf<typeof service.resizeMemory>) =>
    ports.owner.ask(service.resizeMemory, { namespace: "default", sizeBytes: 10n, ...fields });
  const free = (fields: FieldsOf<typeof service.freeMemory>) =>
    ports.owner.ask(service.freeMemory, { namespace: "default", ...fields });
  const write = (fields: FieldsOf<typeof service.writeMemory>, options?: CallOptions) =>
    ports.owner.ask(service.writeMemory, { namespace: "default", ...fields }, options);
  const read = (fields: FieldsOf<typeof service.readMemory>) =>
    ports.owner.ask(service.readMemory, { namespace: "default", ...fields });
  const list = (fields: FieldsOf<typeof service.listMemoryRegions>) =>
    ports.owner.ask(service.listMemoryRegions, { namespace: "default", ...fields });

  async function allocated(sizeBytes: bigint): Promise<string> {
    return ok(await allocate({ sizeBytes })).regionId;
  }

  it("allocates, describes, writes, reads, resizes, lists and frees a region", async () => {
    const { regionId, ...rest } = ok(await allocate({ sizeBytes: 10_000n, label: "matrix" }));
    expect(regionId).match(UUID);
    expect(rest).deep.equal({ sizeBytes: 10_000n, version: 1n, revision: 2n });
    const createdAtMs = BigInt(ports.member.cluster.clock.wall);
    ports.member.cluster.clock.wall += 7;
    const written = ok(await write({ regionId, offset: 4_095n, data: Buffer.from("over the edge") }));
    expect(written).deep.equal({ bytesWritten: 13n, version: 2n, revision: 3n });
    const { data, ...state } = ok(await read({ regionId, offset: 4_094n, length: 15n }));
    expect(Buffer.from(data).toString()).equal("\0over the edge\0");
    expect(state).deep.equal({ version: 2n, sizeBytes: 10_000n, revision: 3n });
    const region = {
      regionId,
      namespace: "default",
      sizeBytes: 10_000n,
      version: 2n,
      label: "matrix",
      createdAtMs,
      updatedAtMs: createdAtMs + 7n,
    };
    expect(ok(await describeRegion({ regionId }))).deep.equal({ region, revision: 3n });
    expect(ok(await list({}))).deep.equal({ regions: [region], nextPageToken: "", revision: 3n });
    const resized = ok(await resize({ regionId, sizeBytes: 4_097n }));
    expect(resized).deep.equal({ sizeBytes: 4_097n, previousSizeBytes: 10_000n, version: 3n, revision: 4n });
    expect(ok(await free({ regionId }))).deep.equal({ freed: true, revision: 5n });
    expect(ok(await list({}))).deep.equal({ regions: [], nextPageToken: "", revision: 5n });
    expect(verdict(await describeRegion({ regionId }))).deep.equal(["NOT_FOUND", "REGION_NOT_FOUND"]);
  });

  it("takes 4 MiB less 64 KiB in one write and read, and no more", async () => {
    const regionId = await allocated(8n * 1024n * 1024n);
    const data = Buffer.from(Uint8Array.from({ length: DATA_BYTES_MAX }, (_, at) => at % 253));
    ok(await write({ regionId, offset: 77n, data }));
    const answer = ok(await read({ regionId, offset: 77n, length: BigInt(DATA_BYTES_MAX) }));
    expect(Buffer.compare(answer.data, data)).equal(0);
    const tooLarge = await write({ regionId, data: Buffer.alloc(DATA_BYTES_MAX + 1) });
    expect(verdict(tooLarge)).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE", "data"]);
    const tooLong = await read({ regionId, length: BigInt(DATA_BYTES_MAX + 1) });
    expect(verdict(tooLong)).deep.equal(["INVALID_ARGUMENT", "TOO_LARGE", "length"]);
    expect(tooLong.details?.metadata.get("limit")).equal(String(DATA_BYTES_MAX));
  });

  it("S31: neither reads nor writes out of bounds, whatever the numbers", async () => {
    const regionId = await allocated(100n);
    for (const [offset, length] of [
      [100n, 1n],
      [0n, 101n],
      [101n, 0n],
      [MAX_SAFE, 1n],
      [MAX_SAFE, BigInt(DATA_BYTES_MAX)],
    ] as const) {
      const bounds = ["OUT_OF_RANGE", "MEMORY_BOUNDS"];
      const refused = await read({ regionId, offset, length });
      expect(verdict(refused)).deep.equal(bounds);
      expect(refused.details?.metadata.get("size_bytes")).equal("100");
      expect(refused.trailers.get("outcome")).deep.equal(["not-executed"]);
      const data = Buffer.alloc(Math.min(Number(length), 1_000), 1);
      expect(verdict(await write({ regionId, offset, data }))).deep.equal(bounds);
    }
    expect(ok(await read({ regionId, length: 100n })).version).equal(1n);
    const unsafe = await read({ regionId, offset: MAX_SAFE + 1n });
    expect(verdict(unsafe)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "offset"]);
  });

  it("S34: reads and writes no bytes within bounds", async () => {
    const regionId = await allocated(100n);
    expect(ok(await read({ regionId, offset: 100n })).data).have.length(0);
    expect(ok(await write({ regionId, offset: 100n }))).deep.equal({ bytesWritten: 0n, version: 2n, revision: 3n });
  });

  it("compares the expected version, also one that no region can have", async () => {
    const regionId = await allocated(100n);
    for (const expectedVersion of [0n, 2n]) {
      const mismatch = await write({ regionId, data: Buffer.from("x"), expectedVersion });
      expect(verdict(mismatch)).deep.equal(["FAILED_PRECONDITION", "VERSION_MISMATCH"]);
      expect(mismatch.details?.metadata.get("version")).equal("1");
      expect(verdict(await resize({ regionId, expectedVersion }))).deep.equal(verdict(mismatch));
      expect(verdict(await free({ regionId, expectedVersion }))).deep.equal(verdict(mismatch));
    }
    expect(ok(await write({ regionId, data: Buffer.from("x"), expectedVersion: 1n })).version).equal(2n);
    expect(ok(await resize({ regionId, expectedVersion: 2n })).version).equal(3n);
    ok(await free({ regionId, expectedVersion: 3n }));
  });

  it("refuses the guard of a hold that is not live, and a guard that can name none", async () => {
    const regionId = await allocated(100n);
    const guard = { lockName: "l", fencingToken: 1n };
    for (const call of [write, resize, free]) {
      expect(verdict(await call({ regionId, guard }))).deep.equal(["ABORTED", "FENCED"]);
      expect(verdict(await call({ regionId: ABSENT, guard })), "before the region is looked for").deep.equal([
        ...["ABORTED", "FENCED"],
      ]);
      for (const [bad, refused] of [
        [{ ...guard, lockName: "" }, ["BAD_FIELD", "guard.lock_name"]],
        [{ ...guard, lockName: "x".repeat(257) }, ["TOO_LARGE", "guard.lock_name"]],
        [{ ...guard, fencingToken: 0n }, ["BAD_FIELD", "guard.fencing_token"]],
      ] as const) {
        expect(verdict(await call({ regionId, guard: bad }))).deep.equal(["INVALID_ARGUMENT", ...refused]);
      }
    }
    expect(ok(await describeRegion({ regionId })).region?.version).equal(1n);
  });

  it("S13: executes a request once, however often it is sent", async () => {
    const metadata = new Map([["request-id", randomUUID()]]);
    const first = await allocate({}, { metadata });
    const again = await allocate({}, { metadata });
    expect(ok(again)).deep.equal(ok(first));
    expect(again.headers.get("replayed")).deep.equal(["true"]);
    expect(ok(await list({})).regions).have.length(1);
    const other = await allocate({ sizeBytes: 5n }, { metadata });
    expect(verdict(other)).deep.equal(["INVALID_ARGUMENT", "REQUEST_ID_REUSED"]);
    const { regionId } = ok(first);
    const bounds = { metadata: new Map([["request-id", randomUUID()]]) };
    const outOfBounds = { regionId, offset: 99n, data: Buffer.from("xx") };
    expect((await write(outOfBounds, bounds)).reason).equal("MEMORY_BOUNDS");
    ok(await resize({ regionId, sizeBytes: 200n }));
    const replayed = await write(outOfBounds, bounds);
    expect([replayed.reason, ...replayed.trailers.get("replayed")]).deep.equal(["MEMORY_BOUNDS", "true"]);
  });

  it("refuses sizes above the quotas", async () => {
    const mib = 1024n * 1024n;
    const quota = ["RESOURCE_EXHAUSTED", "QUOTA"];
    expect(verdict(await allocate({ sizeBytes: 64n * mib + 1n }))).deep.equal(quota);
    expect(verdict(await allocate({ sizeBytes: MAX_SAFE }))).deep.equal(quota);
    for (let count = 0; count < 16; count++) {
      await allocated(64n * mib);
    }
    const full = await allocate({ sizeBytes: 1n });
    expect(verdict(full)).deep.equal(quota);
    expect(full.message)
      .include("default")
      .and.include(String(1024n * mib));
  });

  it("checks its fields", async () => {
    const regionId = await allocated(100n);
    const invalid = (...refused: readonly string[]) => ["INVALID_ARGUMENT", ...refused];
    ok(await allocate({ label: "\u00e9".repeat(128) }));
    expect(verdict(await allocate({ label: "x".repeat(257) }))).deep.equal(invalid("TOO_LARGE", "label"));
    for (const sizeBytes of [0n, -1n]) {
      expect(verdict(await allocate({ sizeBytes }))).deep.equal(invalid("BAD_FIELD", "size_bytes"));
      expect(verdict(await resize({ regionId, sizeBytes }))).deep.equal(invalid("BAD_FIELD", "size_bytes"));
    }
    for (const bad of ["", "region", regionId.slice(1), `${regionId}0`, regionId.replaceAll("-", "")]) {
      for (const call of [describeRegion, resize, free, write, read]) {
        expect(verdict(await call({ regionId: bad })), bad).deep.equal(invalid("BAD_FIELD", "region_id"));
      }
    }
    expect(verdict(await write({ regionId, offset: -1n }))).deep.equal(invalid("BAD_FIELD", "offset"));
    expect(verdict(await read({ regionId, offset: -1n }))).deep.equal(invalid("BAD_FIELD", "offset"));
    expect(verdict(await read({ regionId, length: -1n }))).deep.equal(invalid("BAD_FIELD", "length"));
    for (const call of [write, resize, free]) {
      const refused = await call({ regionId, expectedVersion: -1n });
      expect(verdict(refused)).deep.equal(invalid("BAD_FIELD", "expected_version"));
    }
    for (const call of [describeRegion, read, list]) {
      const refused = await call({ regionId, consistency: 2 as ReadConsistency });
      expect(verdict(refused)).deep.equal(invalid("BAD_FIELD", "consistency"));
    }
  });

  it("takes the digits of an id in any case, and returns them in lower case", async () => {
    const regionId = await allocated(100n);
    expect(ok(await describeRegion({ regionId: regionId.toUpperCase() })).region?.regionId).equal(regionId);
  });

  it("finds nothing in a namespace that does not exist, and no region of another one", async () => {
    const regionId = await allocated(100n);
    ok(await ports.owner.ask(keyValue.createNamespace, { namespace: "prod" }));
    expect(verdict(await allocate({ namespace: "nowhere" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    for (const call of [describeRegion, resize, free, write, read]) {
      const nowhere = await call({ namespace: "nowhere", regionId });
      expect(verdict(nowhere)).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      expect(verdict(await call({ namespace: "prod", regionId }))).deep.equal(["NOT_FOUND", "REGION_NOT_FOUND"]);
      expect(verdict(await call({ regionId: ABSENT }))).deep.equal(["NOT_FOUND", "REGION_NOT_FOUND"]);
    }
    expect(verdict(await list({ namespace: "nowhere" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
  });

  it("S43: lets viewers read and members write, and reveals nothing about a namespace that is not theirs", async () => {
    const regionId = await allocated(100n);
    const target = { namespace: "default", regionId };
    const reads = [
      (caller: GrpcCaller) => caller.ask(service.describeMemory, target),
      (caller: GrpcCaller) => caller.ask(service.readMemory, target),
      (caller: GrpcCaller) => caller.ask(service.listMemoryRegions, target),
    ];
    const allocation = AllocateMemoryRequest.fromPartial({ namespace: "default", sizeBytes: 1n });
    const writes = [
      (caller: GrpcCaller) => caller.call(service.allocateMemory, allocation),
      (caller: GrpcCaller) => caller.ask(service.writeMemory, target),
      (caller: GrpcCaller) => caller.ask(service.resizeMemory, { ...target, sizeBytes: 1n }),
      (caller: GrpcCaller) => caller.ask(service.freeMemory, target),
    ];
    const viewer = ports.caller(await ports.token({ role: "viewer", namespaces: ["default"] }));
    const member = ports.caller(await ports.token({ role: "member", namespaces: ["default"] }));
    const stranger = ports.caller(await ports.token({ role: "admin", namespaces: ["default-eu"] }));
    for (const call of [...reads, ...writes]) {
      expect(verdict(await call(stranger))).deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
    }
    for (const call of reads) {
      expect(verdict(await call(viewer))).deep.equal(["OK", ""]);
    }
    for (const call of writes) {
      expect(verdict(await call(viewer))).deep.equal(["PERMISSION_DENIED", "ACCESS_DENIED"]);
    }
    for (const call of writes) {
      expect(verdict(await call(member))).deep.equal(["OK", ""]);
    }
  });

  it("reads after one read barrier, or serializable, but not on a member without a leader", async () => {
    const { cluster } = ports.member;
    const regionId = await allocated(100n);
    for (const call of [describeRegion, read, list]) {
      cluster.barriers.length = 0;
      expect((await call({ regionId })).code).equal("OK");
      expect(cluster.barriers).have.length(1);
      expect((await call({ regionId, consistency: ReadConsistency.SERIALIZABLE })).code).equal("OK");
    }
    ports.replica.leaderId = 0;
    const refused = await read({ regionId, consistency: ReadConsistency.SERIALIZABLE });
    expect(verdict(refused)).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
    expect(verdict(await read({ regionId }))).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
  });

  describe("ListMemoryRegions", () => {
    async function pages(pageSize: number): Promise<ListMemoryRegionsResponse[]> {
      const all: ListMemoryRegionsResponse[] = [];
      let pageToken = "";
      do {
        const page = ok(await list({ pageSize, pageToken }));
        all.push(page);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return all;
    }

    it("pages by count: 100 by default, at most 1,000, ordered by id", async () => {
      const ids: string[] = [];
      for (let count = 0; count < 102; count++) {
        ids.push(await allocated(1n));
      }
      const idsOf = (all: readonly ListMemoryRegionsResponse[]) =>
        all.map(({ regions }) => regions.map(({ regionId }) => regionId));
      const sorted = [...ids].sort();
      expect(idsOf(await pages(0))).deep.equal([sorted.slice(0, 100), sorted.slice(100)]);
      expect(idsOf(await pages(51)), "no empty last page").deep.equal([sorted.slice(0, 51), sorted.slice(51)]);
      expect(idsOf(await pages(1_000))).deep.equal([sorted]);
      for (const pageSize of [-1, 1_001]) {
        expect(verdict(await list({ pageSize }))).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "page_size"]);
      }
    });

    it("S18: refuses page tokens of another namespace, of a listing of keys, and made-up ones", async () => {
      ok(await ports.owner.ask(keyValue.createNamespace, { namespace: "prod" }));
      await allocated(1n);
      await allocated(1n);
      const { nextPageToken } = ok(await list({ pageSize: 1 }));
      expect(ok(await list({ pageToken: nextPageToken })).regions).have.length(1);
      for (const key of ["a", "b"]) {
        ok(await ports.owner.ask(keyValue.putKey, { namespace: "default", key }));
      }
      const keys = ListKeysRequest.fromPartial({ namespace: "default", pageSize: 1 });
      const ofKeys = ok(await ports.owner.call(keyValue.listKeys, keys)).nextPageToken;
      for (const fields of [
        { namespace: "prod", pageToken: nextPageToken },
        { pageToken: ofKeys },
        { pageToken: `${nextPageToken}=` },
        { pageToken: "made-up" },
      ]) {
        expect(verdict(await list(fields))).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "page_token"]);
      }
      const swapped = await ports.owner.call(keyValue.listKeys, { ...keys, pageToken: nextPageToken });
      expect(verdict(swapped)).deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "page_token"]);
    });
  });
});
