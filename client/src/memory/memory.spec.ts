import type { ReadMemoryRequest, WriteMemoryRequest } from "@quoin/proto";
import { expect } from "chai";
import { failure, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

/** The most bytes of one call, by the contract. */
const CALL_BYTES = 4 * 1_024 * 1_024 - 64 * 1_024;

const REGION = {
  regionId: "r",
  namespace: "n",
  sizeBytes: 10n,
  version: 3n,
  createdAtMs: 1n,
  updatedAtMs: 2n,
  label: "a label",
};
const PLAIN_REGION = {
  regionId: "r",
  namespace: "n",
  sizeBytes: 10,
  version: 3,
  createdAtMs: 1,
  updatedAtMs: 2,
  label: "a label",
};

describe("MemoryClient", () => {
  let member: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    member = await ScriptedMember.start();
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" } });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  it("allocates and describes regions", async () => {
    member.scripts.allocateMemory = ({ sizeBytes }) => ({ regionId: "r", sizeBytes, version: 1n, revision: 9n });
    expect(await client.memory.allocate("n", 10, { label: "a label" })).to.deep.equal({
      regionId: "r",
      sizeBytes: 10,
      version: 1,
      revision: 9,
    });
    expect(member.request).to.deep.equal({ namespace: "n", sizeBytes: 10n, label: "a label" });
    member.scripts.describeMemory = () => ({ region: REGION, revision: 9n });
    expect(await client.memory.describe("n", "r", { consistency: "serializable" })).to.deep.equal({
      ...PLAIN_REGION,
      revision: 9,
    });
    expect(member.request).to.deep.equal({ namespace: "n", regionId: "r", consistency: 1 });
  });

  it("resizes and frees regions, under conditions", async () => {
    const guard = { lockName: "l", fencingToken: 7, rw: true };
    const conditions = {
      expectedVersion: 3n,
      guard: { lockName: "l", fencingToken: 7n, rw: true, sessionId: undefined },
    };
    member.scripts.resizeMemory = () => ({ sizeBytes: 20n, previousSizeBytes: 10n, version: 4n, revision: 9n });
    expect(await client.memory.resize("n", "r", 20, { expectedVersion: 3, guard })).to.deep.equal({
      sizeBytes: 20,
      previousSizeBytes: 10,
      version: 4,
      revision: 9,
    });
    expect(member.request).to.deep.equal({ namespace: "n", regionId: "r", sizeBytes: 20n, ...conditions });
    member.scripts.freeMemory = () => ({ freed: true, revision: 9n });
    expect(await client.memory.free("n", "r", { expectedVersion: 3, guard })).to.deep.equal({
      freed: true,
      revision: 9,
    });
    expect(member.request).to.deep.equal({ namespace: "n", regionId: "r", ...conditions });
    await client.memory.free("n", "r");
    expect(member.request).to.deep.equal({
      namespace: "n",
      regionId: "r",
      expectedVersion: undefined,
      guard: undefined,
    });
  });

  it("writes and reads bytes", async () => {
    member.scripts.writeMemory = ({ data }) => ({ bytesWritten: BigInt(data.length), version: 4n, revision: 9n });
    const guard = { lockName: "l", fencingToken: 7 };
    expect(await client.memory.write("n", "r", 5, "\u00e9", { expectedVersion: 0, guard })).to.deep.equal({
      bytesWritten: 2,
      version: 4,
      revision: 9,
    });
    expect(member.request).to.deep.equal({
      namespace: "n",
      regionId: "r",
      offset: 5n,
      data: Uint8Array.of(0xc3, 0xa9),
      expectedVersion: 0n,
      guard: { lockName: "l", fencingToken: 7n, rw: false, sessionId: undefined },
    });
    member.scripts.readMemory = () => ({ data: Uint8Array.of(1, 2), version: 4n, sizeBytes: 10n, revision: 9n });
    const read = await client.memory.read("n", "r", 5, 2);
    expect(read).to.deep.equal({ data: Uint8Array.of(1, 2), version: 4, sizeBytes: 10, revision: 9 });
    expect(Buffer.isBuffer(read.data)).to.equal(false);
    expect(member.request).to.deep.equal({ namespace: "n", regionId: "r", offset: 5n, length: 2n, consistency: 0 });
  });

  it("lists regions, page by page", async () => {
    member.scripts.listMemoryRegions = ({ pageToken }) => ({
      regions: [REGION],
      nextPageToken: pageToken === "" ? "2" : "",
      revision: 9n,
    });
    const pages = await Array.fromAsync(client.memory.pages("n", { pageSize: 1 }));
    expect(pages).to.deep.equal([
      { regions: [PLAIN_REGION], nextPageToken: "2", revision: 9 },
      { regions: [PLAIN_REGION], nextPageToken: "", revision: 9 },
    ]);
    expect(member.request).to.deep.equal({ namespace: "n", pageSize: 1, pageToken: "2", consistency: 0 });
  });

  it("S16, S17: refuses values beyond the range of the protocol, with the field's name, before it sends anything", async () => {
    const { memory } = client;
    for (const [work, field] of [
      [memory.allocate("\ud800", 1), "namespace"],
      [memory.allocate("n", 2 ** 53), "sizeBytes"],
      [memory.allocate("n", 1, { label: "\ud800" }), "label"],
      [memory.describe("n", "\ud800"), "regionId"],
      [memory.resize("n", "r", 0.5), "sizeBytes"],
      [memory.free("n", "r", { expectedVersion: 2 ** 53 }), "expectedVersion"],
      [memory.write("n", "r", 2 ** 53, "x"), "offset"],
      [memory.write("n", "r", 0, "\ud800"), "data"],
      [memory.read("n", "r", 0, 2 ** 53), "length"],
      [memory.list("n", { pageSize: 2 ** 31 }), "pageSize"],
      [memory.open("n", "r").read(-1), "length"],
      [memory.open("n", "r").seek(-1), "offset"],
    ] as const) {
      expect((await failure(work)).details.get("field")).to.equal(field);
    }
    expect(member.calls).to.have.length(0);
  });

  describe("an open region", () => {
    let bytes: Uint8Array;
    let version: bigint;

    beforeEach(() => {
      bytes = new Uint8Array(2 * CALL_BYTES + 10);
      version = 1n;
      member.scripts.describeMemory = () => ({ region: { ...REGION, sizeBytes: BigInt(bytes.length) } });
      member.scripts.writeMemory = ({ offset, data, expectedVersion }: WriteMemoryRequest) => {
        if (expectedVersion !== undefined && expectedVersion !== version) {
          return refuse({ code: "FAILED_PRECONDITION", reason: "VERSION_MISMATCH" });
        }
        bytes.set(data, Number(offset));
        version += 1n;
        return { bytesWritten: BigInt(data.length), version };
      };
      member.scripts.readMemory = ({ offset, length }: ReadMemoryRequest) => ({
        data: bytes.subarray(Number(offset), Number(offset + length)),
        version,
      });
    });

    it("continues at its position, and seeks to another one", async () => {
      const open = client.memory.open("n", "r");
      await open.write("hello, ");
      expect(open.position).to.equal(7);
      await open.write("world");
      expect(await open.seek(-5, "current")).to.equal(7);
      expect(Buffer.from(await open.read(5)).toString()).to.equal("world");
      expect(await open.seek(-1, "end")).to.equal(bytes.length - 1);
      await open.write("!");
      expect(await open.seek(0)).to.equal(0);
      expect(Buffer.from(await open.readAt(bytes.length - 1, 1)).toString()).to.equal("!");
      expect(open.position).to.equal(0);
      expect(await open.read(0)).to.deep.equal(new Uint8Array());
    });

    it("divides a transfer that is longer than one call, and reports its progress", async () => {
      const open = client.memory.open("n", "r");
      const data = new Uint8Array(bytes.length).map((_byte, index) => index % 251);
      const written: number[] = [];
      expect(await open.write(data, { onProgress: (done) => written.push(done) })).to.equal(4);
      expect(written).to.deep.equal([CALL_BYTES, 2 * CALL_BYTES, data.length]);
      expect(Buffer.compare(bytes, data)).to.equal(0);
      const read: number[] = [];
      const got = await open.readAt(0, data.length, { onProgress: (done, total) => read.push(done / total) });
      expect(Buffer.compare(got, data)).to.equal(0);
      expect(read).to.have.length(3);
      expect(read.at(-1)).to.equal(1);
    });

    it("expects the version that its own calls produce", async () => {
      const open = client.memory.open("n", "r");
      const data = new Uint8Array(bytes.length);
      expect(await open.writeAt(0, data, { expectedVersion: 1 })).to.equal(4);
      let calls = 0;
      const write = member.scripts.writeMemory!;
      member.scripts.writeMemory = (request, call) => {
        calls += 1;
        // Another client writes between the first and the second call.
        if (calls === 2) {
          version += 1n;
        }
        return write(request, call);
      };
      expect((await failure(open.writeAt(0, data, { expectedVersion: 4 }))).reason).to.equal("VERSION_MISMATCH");
      expect(calls).to.equal(2);
    });

    it("S33: does not mix versions, unless the caller allows it", async () => {
      const open = client.memory.open("n", "r");
      const read = member.scripts.readMemory!;
      member.scripts.readMemory = (request, call) => {
        version += 1n;
        return read(request, call);
      };
      const error = await failure(open.read(bytes.length));
      expect(error).to.include({ code: "ABORTED", reason: "VERSION_MISMATCH" });
      expect(open.position).to.equal(0);
      expect(await open.read(bytes.length, { mixed: true })).to.have.length(bytes.length);
    });
  });
});
