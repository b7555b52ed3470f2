/** MemoryService: regions of bytes, their bounds, zeros, versions and limits. */

import { type MemoryRegion, ReadConsistency } from "@quoin/proto";
import { expect } from "chai";
import {
  allocateMemory,
  areSameBytes,
  describeMemory,
  expectFields,
  freeMemory,
  isAbove,
  isAtLeast,
  isPositive,
  isUnixMs,
  isUuid,
  listMemoryRegions,
  readMemory,
  resizeMemory,
  type Table,
  type TestContext,
  until,
  writeMemory,
} from "../harness/index.ts";

const MIB = 1024 * 1024;
/** Bytes of one read or write. */
const DATA_BYTES_MAX = 4 * MIB - 64 * 1024;
const REGION_BYTES_MAX = 64 * MIB;
const NAMESPACE_BYTES_MAX = 1024 * MIB;
const LABEL_BYTES_MAX = 256;
const SAFE_MAX = 2n ** 53n - 1n;
/** Not at any internal border. */
const SIZE = 10_000n;

interface Region {
  readonly namespace: string;
  readonly regionId: string;
}

async function newRegion(context: TestContext, sizeBytes = SIZE): Promise<Region> {
  const { namespace } = context;
  const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes });
  return { namespace, regionId };
}

const allocating: Table = {
  name: "AllocateMemory",
  entries: {
    "answers id, size and version of a region full of zeros": async (context) => {
      const { namespace } = context;
      const made = await context.ask(allocateMemory, { namespace, sizeBytes: SIZE, label: "a label" });
      expectFields(made, { regionId: isUuid, sizeBytes: SIZE, version: 1n, revision: isPositive });
      const read = await context.askElsewhere(readMemory, { namespace, regionId: made.regionId, length: SIZE });
      expectFields(read, {
        data: Buffer.alloc(Number(SIZE)),
        version: 1n,
        sizeBytes: SIZE,
        revision: isAtLeast(made.revision),
      });
      const other = await context.ask(allocateMemory, { namespace, sizeBytes: SIZE, label: "a label" });
      expect(other.regionId).to.not.equal(made.regionId);
    },
    "takes 1 byte to 64 MiB, and labels of 256 bytes": async (context) => {
      const { namespace } = context;
      await context.ask(allocateMemory, { namespace, sizeBytes: 1n });
      const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes: BigInt(REGION_BYTES_MAX) });
      await context.ask(freeMemory, { namespace, regionId });
      for (const sizeBytes of [BigInt(REGION_BYTES_MAX) + 1n, SAFE_MAX]) {
        await context.refuses(allocateMemory, { namespace, sizeBytes }, "QUOTA");
      }
      for (const sizeBytes of [0n, -1n]) {
        await context.refuses(allocateMemory, { namespace, sizeBytes }, "BAD_FIELD", { field: "size_bytes" });
      }
      const label = "ä".repeat(LABEL_BYTES_MAX / 2);
      await context.ask(allocateMemory, { namespace, sizeBytes: 1n, label });
      const longer = { namespace, sizeBytes: 1n, label: `${label}a` };
      await context.refuses(allocateMemory, longer, "TOO_LARGE", { field: "label", limit: LABEL_BYTES_MAX });
    },
    "gives a namespace 1 GiB, and takes back what is freed": async (context) => {
      const namespace = await context.newNamespace();
      const sizeBytes = BigInt(REGION_BYTES_MAX);
      const regions = await Promise.all(
        Array.from({ length: NAMESPACE_BYTES_MAX / REGION_BYTES_MAX }, () =>
          context.ask(allocateMemory, { namespace, sizeBytes }),
        ),
      );
      await context.refuses(allocateMemory, { namespace, sizeBytes: 1n }, "QUOTA");
      const [first] = regions;
      const region = { namespace, regionId: first?.regionId ?? "" };
      await context.ask(resizeMemory, { ...region, sizeBytes: sizeBytes - 1n });
      await context.ask(allocateMemory, { namespace, sizeBytes: 1n });
      await context.refuses(resizeMemory, { ...region, sizeBytes }, "QUOTA");
      await context.ask(freeMemory, region);
      await context.ask(allocateMemory, { namespace, sizeBytes: sizeBytes - 1n });
    },
  },
};

const describing: Table = {
  name: "DescribeMemory",
  entries: {
    "answers the region, in any case of its id": async (context) => {
      const { namespace } = context;
      const made = await context.askElsewhere(allocateMemory, { namespace, sizeBytes: SIZE, label: "häuser" });
      const { regionId } = made;
      const { region, revision } = await context.ask(describeMemory, { namespace, regionId: regionId.toUpperCase() });
      expect(revision >= made.revision).to.equal(true);
      expectFields(region as MemoryRegion, {
        regionId,
        namespace,
        sizeBytes: SIZE,
        version: 1n,
        label: "häuser",
        createdAtMs: isUnixMs,
        updatedAtMs: region?.createdAtMs as bigint,
      });
      await context.ask(writeMemory, { namespace, regionId, data: Buffer.from("x") });
      const after = await context.ask(describeMemory, { namespace, regionId });
      expectFields(after.region as MemoryRegion, {
        regionId,
        namespace,
        sizeBytes: SIZE,
        version: 2n,
        label: "häuser",
        createdAtMs: region?.createdAtMs as bigint,
        updatedAtMs: isAtLeast(region?.createdAtMs as bigint),
      });
    },
    "does not find a region in another namespace": async (context) => {
      const { regionId } = await newRegion(context);
      const namespace = await context.newNamespace();
      await context.refuses(describeMemory, { namespace, regionId }, "REGION_NOT_FOUND");
    },
    "SERIALIZABLE comes to see it": async (context) => {
      const { namespace } = context;
      const { regionId } = await context.askElsewhere(allocateMemory, { namespace, sizeBytes: 1n });
      await until("the member to have applied it", async () => {
        const fields = { namespace, regionId, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(describeMemory, fields)).code === "OK";
      });
    },
  },
};

const writing: Table = {
  name: "WriteMemory",
  entries: {
    "writes bytes where they are wanted, and nowhere else": async (context) => {
      const region = await newRegion(context);
      const expected = Buffer.alloc(Number(SIZE));
      let version = 1n;
      for (const [offset, length] of [
        [0, 1],
        [4_090, 12],
        [9_990, 10],
        [4_000, 5_000],
        [4_096, 0],
        [10_000, 0],
      ] as const) {
        const data = Buffer.alloc(length, `${version}`);
        data.copy(expected, offset);
        version++;
        const written = await context.ask(writeMemory, { ...region, offset: BigInt(offset), data });
        expectFields(written, { bytesWritten: BigInt(length), version, revision: isPositive });
        const read = await context.askElsewhere(readMemory, { ...region, length: SIZE });
        expect(areSameBytes(read.data, expected), `after ${length} bytes at ${offset}`).to.equal(true);
        expect([read.version, read.revision >= written.revision]).to.deep.equal([version, true]);
      }
    },
    "S31: writes nothing at all beyond the end, however large the numbers": async (context) => {
      const region = await newRegion(context, 100n);
      for (const [offset, length] of [
        [99n, 2],
        [100n, 1],
        [101n, 0],
        [SAFE_MAX, 1],
        [SAFE_MAX, 0],
      ] as const) {
        const data = Buffer.alloc(length, "x");
        await context.refuses(writeMemory, { ...region, offset, data }, "MEMORY_BOUNDS");
      }
      await context.refuses(writeMemory, { ...region, offset: -1n }, "BAD_FIELD", { field: "offset" });
      const read = await context.ask(readMemory, { ...region, length: 100n });
      expect([read.data, read.version, read.sizeBytes]).to.deep.equal([Buffer.alloc(100), 1n, 100n]);
    },
    "writes only over the version that is expected": async (context) => {
      const region = await newRegion(context);
      const data = Buffer.from("x");
      for (const expectedVersion of [0n, 2n, SAFE_MAX]) {
        await context.refuses(writeMemory, { ...region, data, expectedVersion }, "VERSION_MISMATCH");
      }
      await context.refuses(writeMemory, { ...region, data, expectedVersion: -1n }, "BAD_FIELD", {
        field: "expected_version",
      });
      expect((await context.ask(writeMemory, { ...region, data, expectedVersion: 1n })).version).to.equal(2n);
      await context.refuses(writeMemory, { ...region, data, expectedVersion: 1n }, "VERSION_MISMATCH");
    },
    "takes 4 MiB - 64 KiB at once, not one byte more": async (context) => {
      const region = await newRegion(context, BigInt(4 * MIB));
      const data = Buffer.alloc(DATA_BYTES_MAX, "0123456789abcdef-");
      await context.ask(writeMemory, { ...region, offset: 5n, data });
      const read = await context.askElsewhere(readMemory, { ...region, offset: 5n, length: BigInt(DATA_BYTES_MAX) });
      expect(areSameBytes(read.data, data)).to.equal(true);
      const larger = { ...region, data: Buffer.alloc(DATA_BYTES_MAX + 1) };
      await context.refuses(writeMemory, larger, "TOO_LARGE", { field: "data", limit: DATA_BYTES_MAX });
    },
  },
};

const reading: Table = {
  name: "ReadMemory",
  entries: {
    "answers any bytes of the region, none too": async (context) => {
      const region = await newRegion(context, 100n);
      await context.askElsewhere(writeMemory, { ...region, offset: 98n, data: Buffer.from("yz") });
      for (const [offset, length, expected] of [
        [97n, 3n, "\0yz"],
        [99n, 1n, "z"],
        [0n, 1n, "\0"],
        [50n, 0n, ""],
        [100n, 0n, ""],
      ] as const) {
        const read = await context.ask(readMemory, { ...region, offset, length });
        expectFields(read, { data: Buffer.from(expected), version: 2n, sizeBytes: 100n, revision: isPositive });
      }
    },
    "S31: answers no short read beyond the end, however large the numbers": async (context) => {
      const region = await newRegion(context, 100n);
      for (const [offset, length] of [
        [0n, 101n],
        [99n, 2n],
        [100n, 1n],
        [101n, 0n],
        [SAFE_MAX, BigInt(DATA_BYTES_MAX)],
        [SAFE_MAX, 0n],
      ] as const) {
        await context.refuses(readMemory, { ...region, offset, length }, "MEMORY_BOUNDS");
      }
      for (const [field, value] of [
        ["offset", { offset: -1n }],
        ["length", { length: -1n }],
      ] as const) {
        await context.refuses(readMemory, { ...region, ...value }, "BAD_FIELD", { field });
      }
    },
    "reads 4 MiB - 64 KiB at once, not one byte more": async (context) => {
      const region = await newRegion(context, BigInt(4 * MIB));
      const length = BigInt(DATA_BYTES_MAX);
      expect((await context.ask(readMemory, { ...region, length })).data).to.have.lengthOf(DATA_BYTES_MAX);
      const limit = { field: "length", limit: DATA_BYTES_MAX };
      await context.refuses(readMemory, { ...region, length: length + 1n }, "TOO_LARGE", limit);
    },
    "SERIALIZABLE comes to see what was written": async (context) => {
      const region = await newRegion(context);
      await context.askElsewhere(writeMemory, { ...region, data: Buffer.from("x") });
      await until("the member to have applied it", async () => {
        const fields = { ...region, length: 1n, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(readMemory, fields)).response?.version === 2n;
      });
    },
  },
};

const resizing: Table = {
  name: "ResizeMemory",
  entries: {
    "S32: grows and shrinks, and what comes back is zeros": async (context) => {
      const region = await newRegion(context, 5_000n);
      await context.ask(writeMemory, { ...region, data: Buffer.alloc(5_000, "x") });
      const shrunk = await context.ask(resizeMemory, { ...region, sizeBytes: 4_095n });
      expectFields(shrunk, { sizeBytes: 4_095n, previousSizeBytes: 5_000n, version: 3n, revision: isPositive });
      await context.refuses(readMemory, { ...region, length: 4_096n }, "MEMORY_BOUNDS", {
        connection: context.elsewhere,
      });
      const grown = await context.ask(resizeMemory, { ...region, sizeBytes: 9_000n });
      expectFields(grown, {
        sizeBytes: 9_000n,
        previousSizeBytes: 4_095n,
        version: 4n,
        revision: isAbove(shrunk.revision),
      });
      const { data, sizeBytes } = await context.askElsewhere(readMemory, { ...region, length: 9_000n });
      expect(areSameBytes(data, Buffer.concat([Buffer.alloc(4_095, "x"), Buffer.alloc(4_905)]))).to.equal(true);
      expect(sizeBytes).to.equal(9_000n);
    },
    "takes 1 byte to 64 MiB, and only over the version that is expected": async (context) => {
      const region = await newRegion(context);
      await context.ask(resizeMemory, { ...region, sizeBytes: BigInt(REGION_BYTES_MAX) });
      await context.ask(resizeMemory, { ...region, sizeBytes: 1n, expectedVersion: 2n });
      await context.refuses(resizeMemory, { ...region, sizeBytes: BigInt(REGION_BYTES_MAX) + 1n }, "QUOTA");
      for (const sizeBytes of [0n, -1n]) {
        await context.refuses(resizeMemory, { ...region, sizeBytes }, "BAD_FIELD", { field: "size_bytes" });
      }
      await context.refuses(resizeMemory, { ...region, sizeBytes: 2n, expectedVersion: 2n }, "VERSION_MISMATCH");
      await context.refuses(resizeMemory, { ...region, sizeBytes: 2n, expectedVersion: -1n }, "BAD_FIELD", {
        field: "expected_version",
      });
      const { region: after } = await context.askElsewhere(describeMemory, region);
      expect([after?.sizeBytes, after?.version]).to.deep.equal([1n, 3n]);
    },
  },
};

const freeing: Table = {
  name: "FreeMemory",
  entries: {
    "frees a region for ever": async (context) => {
      const region = await newRegion(context);
      await context.refuses(freeMemory, { ...region, expectedVersion: 2n }, "VERSION_MISMATCH");
      await context.refuses(freeMemory, { ...region, expectedVersion: -1n }, "BAD_FIELD", {
        field: "expected_version",
      });
      expectFields(await context.ask(freeMemory, { ...region, expectedVersion: 1n }), {
        freed: true,
        revision: isPositive,
      });
      const connection = context.elsewhere;
      await context.refuses(describeMemory, region, "REGION_NOT_FOUND", { connection });
      await context.refuses(readMemory, region, "REGION_NOT_FOUND", { connection });
      await context.refuses(writeMemory, region, "REGION_NOT_FOUND");
      await context.refuses(freeMemory, region, "REGION_NOT_FOUND");
    },
  },
};

const listing: Table = {
  name: "ListMemoryRegions",
  entries: {
    "answers the regions of the namespace with all their fields, ordered by id, page by page": async (context) => {
      const namespace = await context.newNamespace();
      const nothing = await context.ask(listMemoryRegions, { namespace });
      expectFields(nothing, { regions: [], nextPageToken: "", revision: isPositive });
      const made = await Promise.all(
        Array.from({ length: 101 }, async (_, at) => {
          const label = `label ${at}`;
          const { regionId } = await context.askElsewhere(allocateMemory, {
            namespace,
            sizeBytes: BigInt(at + 1),
            label,
          });
          return { regionId, namespace, sizeBytes: BigInt(at + 1), version: 1n, label };
        }),
      );
      made.sort((a, b) => (a.regionId < b.regionId ? -1 : 1));
      const first = await context.ask(listMemoryRegions, { namespace });
      const { nextPageToken: pageToken } = first;
      const second = await context.askElsewhere(listMemoryRegions, { namespace, pageToken });
      expect([first.regions.length, second.regions.length, second.nextPageToken]).to.deep.equal([100, 1, ""]);
      for (const [at, region] of [...first.regions, ...second.regions].entries()) {
        const expected = made[at] as (typeof made)[number];
        expectFields(region, { ...expected, createdAtMs: isUnixMs, updatedAtMs: region.createdAtMs });
      }
      const all = await context.ask(listMemoryRegions, { namespace, pageSize: 1_000 });
      expect([all.regions.length, all.nextPageToken]).to.deep.equal([101, ""]);
    },
    "S18: takes a page token only for the namespace that it is of, and only as it was given": async (context) => {
      const namespace = await context.newNamespace();
      for (let at = 0; at < 2; at++) {
        await context.ask(allocateMemory, { namespace, sizeBytes: 1n });
      }
      const { nextPageToken: pageToken } = await context.ask(listMemoryRegions, { namespace, pageSize: 1 });
      const last = pageToken.at(-6) === "A" ? "B" : "A";
      for (const fields of [
        { namespace: context.namespace, pageToken },
        { namespace, pageToken: pageToken.slice(0, -4) },
        { namespace, pageToken: `${pageToken.slice(0, -6)}${last.repeat(6)}` },
        { namespace, pageToken: "x" },
      ]) {
        await context.refuses(listMemoryRegions, fields, "BAD_FIELD", { field: "page_token" });
      }
    },
    "takes pages of 1,000, not of one more": async (context) => {
      const { namespace } = context;
      await context.ask(listMemoryRegions, { namespace, pageSize: 1_000 });
      const limit = { field: "page_size", limit: 1_000 };
      await context.refuses(listMemoryRegions, { namespace, pageSize: 1_001 }, "BAD_FIELD", limit);
      await context.refuses(listMemoryRegions, { namespace, pageSize: -1 }, "BAD_FIELD", { field: "page_size" });
    },
  },
};

export const memory: readonly Table[] = [allocating, describing, writing, reading, resizing, freeing, listing];
