/**
 * Memory regions: allocate, resize, free, write, read and list.
 *
 * A region is ABSENT or PRESENT with a version that starts at 1 and counts every write and resize. Bytes that were
 * never written are zero. A call lies completely within the bounds or is refused completely (S31), and reads or makes
 * one version (S33). Its id is made from the cluster's id and the revision of its allocation; no other region ever has
 * it.
 */

import {
  type ApplyContext,
  bytes,
  CoordinationError,
  clientOperation,
  count,
  decodeRow,
  derivedId,
  derivedIdText,
  encodeRow,
  fixedBytes,
  MEMORY_OPERATION,
  memoryRegionRow,
  type NamespacedRows,
  name,
  optionalCount,
  prefixRange,
  recordOf,
  requireNamespace,
  type StateReader,
  text,
} from "../core/index.ts";
import { checkGuard, optionalGuard } from "../locks/index.ts";
import type {
  AllocateMemory,
  FreeMemory,
  ReadMemory,
  ReadMemoryResult,
  RegionMutation,
  ResizeMemory,
  WriteMemory,
} from "./memory-command.ts";
import {
  type AllocateMemoryResult,
  type FreeMemoryResult,
  REGION_ID_BYTES,
  type ResizeMemoryResult,
  type WriteMemoryResult,
} from "./memory-command.ts";
import { cutPages, readPages, segmentsOf, writePages } from "./memory-pages.ts";

/** A stored region without its bytes. */
export interface MemoryRegion {
  /** 16 bytes of a UUID. */
  readonly regionId: Uint8Array;
  readonly sizeBytes: number;
  readonly version: number;
  /** Revision of the allocation; it identifies the region's segments. */
  readonly createRevision: number;
  /** Unix time in milliseconds. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly label: string;
}

/** The fields of a region's row. */
const regionFields = recordOf<Omit<MemoryRegion, "regionId">>({
  sizeBytes: count,
  version: count,
  createRevision: count,
  createdAtMs: count,
  updatedAtMs: count,
  label: text,
});

const NO_BYTES = new Uint8Array(0);
/** The fields that every mutation of a region begins with. */
const MUTATION = {
  namespace: name,
  regionId: fixedBytes(REGION_ID_BYTES),
  expectedVersion: optionalCount,
  guard: optionalGuard,
} as const;

export const allocateMemoryOperation = clientOperation<AllocateMemory, AllocateMemoryResult>({
  kind: "allocate-memory",
  number: 30,
  access: "write",
  grows: true,
  usage: MEMORY_OPERATION,
  fields: { namespace: name, sizeBytes: count, label: text },
  answer: { number: 30, fields: { regionId: fixedBytes(REGION_ID_BYTES), sizeBytes: count, version: count } },
  apply: applyAllocateMemory,
});

export const resizeMemoryOperation = clientOperation<ResizeMemory, ResizeMemoryResult>({
  kind: "resize-memory",
  number: 31,
  access: "write",
  usage: MEMORY_OPERATION,
  fields: { ...MUTATION, sizeBytes: count },
  answer: { number: 31, fields: { sizeBytes: count, previousSizeBytes: count, version: count } },
  apply: applyResizeMemory,
});

export const freeMemoryOperation = clientOperation<FreeMemory, FreeMemoryResult>({
  kind: "free-memory",
  number: 32,
  access: "write",
  usage: MEMORY_OPERATION,
  fields: MUTATION,
  answer: { number: 32, fields: {} },
  apply: applyFreeMemory,
});

export const writeMemoryOperation = clientOperation<WriteMemory, WriteMemoryResult>({
  kind: "write-memory",
  number: 33,
  access: "write",
  grows: true,
  usage: MEMORY_OPERATION,
  fields: { ...MUTATION, offset: count, data: bytes },
  answer: { number: 33, fields: { bytesWritten: count, version: count } },
  apply: applyWriteMemory,
});

/** Only transactions have it. */
export const readMemoryOperation = clientOperation<ReadMemory, ReadMemoryResult>({
  kind: "read-memory",
  number: 35,
  access: "read",
  usage: MEMORY_OPERATION,
  fields: { namespace: name, regionId: fixedBytes(REGION_ID_BYTES), offset: count, length: count },
  answer: {
    number: 35,
    fields: { data: bytes, sizeBytes: count, version: count },
    withoutValues: (answer) => ({ ...answer, data: NO_BYTES }),
  },
  apply: (context, { namespace, regionId, offset, length }) => {
    const { region, data } = readMemory(context.transaction, namespace, regionId, offset, length);
    const { sizeBytes, version } = region;
    return { kind: "read-memory", data, sizeBytes, version, revision: context.revision };
  },
});

function applyAllocateMemory(context: ApplyContext, command: AllocateMemory): AllocateMemoryResult {
  const { transaction, wallMs } = context;
  const { namespace, sizeBytes, label } = command;
  requireNamespace(transaction, namespace);
  requireQuota(context, namespace, 0, sizeBytes);
  const account = context.accounts.of(namespace);
  account.requireQuota("memory_regions", 1);
  // The row counts the same for the whole life of the region: its length depends only on the label.
  const countedBytes = bytesOfRow(namespace, label);
  context.requireNamespaceQuota(namespace, countedBytes);
  context.countDataIn(namespace, countedBytes);
  account.count("memory_regions", 1);
  context.countTotal("memoryRegions", 1);
  countUsage(context, namespace, sizeBytes);
  const revision = context.nextRevision();
  const region = {
    regionId: derivedId(transaction, "region", revision),
    sizeBytes,
    version: 1,
    createRevision: revision,
    createdAtMs: wallMs,
    updatedAtMs: wallMs,
    label,
  };
  transaction.put(memoryRegionRow(namespace, region.regionId), encodeRow(regionFields, region));
  return { kind: "allocate-memory", regionId: region.regionId, sizeBytes, version: 1, revision };
}

/** A resize to the present size also makes a version. Cut bytes never reappear (S32). */
function applyResizeMemory(context: ApplyContext, command: ResizeMemory): ResizeMemoryResult {
  const { transaction } = context;
  const { namespace, sizeBytes } = command;
  const region = requireVersion(context, command);
  requireQuota(context, namespace, region.sizeBytes, sizeBytes);
  countUsage(context, namespace, sizeBytes - region.sizeBytes);
  if (sizeBytes < region.sizeBytes) {
    cutPages(transaction, region.createRevision, region.sizeBytes, sizeBytes);
  }
  const revision = context.nextRevision();
  const version = changeRegion(context, namespace, region, sizeBytes);
  return { kind: "resize-memory", sizeBytes, previousSizeBytes: region.sizeBytes, version, revision };
}

function applyFreeMemory(context: ApplyContext, command: FreeMemory): FreeMemoryResult {
  const { namespace } = command;
  eraseRegion(context, namespace, requireVersion(context, command));
  return { kind: "free-memory", revision: context.nextRevision() };
}

/** Removes the rows of the region. Later steps erase its pages. */
function eraseRegion(context: ApplyContext, namespace: string, region: MemoryRegion): void {
  const { transaction } = context;
  cutPages(transaction, region.createRevision, region.sizeBytes, 0);
  transaction.delete(memoryRegionRow(namespace, region.regionId));
  countUsage(context, namespace, -region.sizeBytes);
  context.countDataIn(namespace, -bytesOfRow(namespace, region.label));
  context.accounts.of(namespace).count("memory_regions", -1);
  context.countTotal("memoryRegions", -1);
}

/** All regions of a namespace. */
export const namespaceRegions: NamespacedRows = {
  rangeOf: (namespace) => prefixRange(memoryRegionRow(namespace, NO_BYTES)),
  erase: (context, namespace, { key, value }) => {
    const region = { regionId: key.subarray(key.length - REGION_ID_BYTES), ...decodeRow(regionFields, value) };
    eraseRegion(context, namespace, region);
    return 1 + 2 * segmentsOf(region.sizeBytes);
  },
};

/** A write of no bytes also makes a version (S34). */
function applyWriteMemory(context: ApplyContext, command: WriteMemory): WriteMemoryResult {
  const { transaction } = context;
  const { namespace, offset, data } = command;
  const region = requireVersion(context, command);
  requireBounds(region, offset, data.length);
  const revision = context.nextRevision();
  writePages(transaction, region.createRevision, offset, data, revision);
  const version = changeRegion(context, namespace, region, region.sizeBytes);
  return { kind: "write-memory", bytesWritten: data.length, version, revision };
}

/** The region; raises NAMESPACE_NOT_FOUND or REGION_NOT_FOUND. */
export function describeMemory(reader: StateReader, namespace: string, regionId: Uint8Array): MemoryRegion {
  requireNamespace(reader, namespace);
  return requireRegion(reader, namespace, regionId);
}

/** The region and exactly these bytes. Also raises MEMORY_BOUNDS. */
export function readMemory(
  reader: StateReader,
  namespace: string,
  regionId: Uint8Array,
  offset: number,
  length: number,
): { readonly region: MemoryRegion; readonly data: Uint8Array } {
  const region = describeMemory(reader, namespace, regionId);
  requireBounds(region, offset, length);
  return { region, data: readPages(reader, region.createRevision, offset, length) };
}

/** Regions above `after` if given, in the order of their ids. Raises NAMESPACE_NOT_FOUND. */
export function listMemory(
  reader: StateReader,
  namespace: string,
  after: Uint8Array | undefined,
  entriesMax: number,
): { readonly regions: readonly MemoryRegion[]; readonly more: boolean } {
  requireNamespace(reader, namespace);
  const { from: first, to } = prefixRange(memoryRegionRow(namespace, NO_BYTES));
  const from = after === undefined ? first : prefixRange(memoryRegionRow(namespace, after)).to;
  const regions: MemoryRegion[] = [];
  let more = false;
  reader.scan(from, to, ({ key, value }) => {
    if (regions.length === entriesMax) {
      more = true;
      return false;
    }
    regions.push({ regionId: key.slice(first.length), ...decodeRow(regionFields, value) });
    return true;
  });
  return { regions, more };
}

/** Checks namespace, guard, region and version, in this order; the first failure refuses. */
function requireVersion(context: ApplyContext, command: RegionMutation): MemoryRegion {
  const { namespace, regionId, expectedVersion, guard } = command;
  requireNamespace(context.transaction, namespace);
  checkGuard(context.transaction, namespace, guard);
  const region = requireRegion(context.transaction, namespace, regionId);
  if (expectedVersion !== undefined && expectedVersion !== region.version) {
    throw new CoordinationError(
      "VERSION_MISMATCH",
      `expected_version is ${expectedVersion}, but memory region ${quote(namespace, regionId)} ` +
        `has version ${region.version}`,
      { details: new Map([["version", String(region.version)]]) },
    );
  }
  return region;
}

function requireRegion(reader: StateReader, namespace: string, regionId: Uint8Array): MemoryRegion {
  const bytes = reader.get(memoryRegionRow(namespace, regionId));
  if (bytes === undefined) {
    throw new CoordinationError("REGION_NOT_FOUND", `memory region ${quote(namespace, regionId)} does not exist`);
  }
  return { regionId, ...decodeRow(regionFields, bytes) };
}

/** Does not add `offset + length`, because the sum may exceed 2^53 − 1 (S31). */
function requireBounds(region: MemoryRegion, offset: number, length: number): void {
  if (offset > region.sizeBytes || length > region.sizeBytes - offset) {
    throw new CoordinationError(
      "MEMORY_BOUNDS",
      `${length} bytes at offset ${offset} do not lie within the ${region.sizeBytes} bytes of the region`,
      { details: new Map([["size_bytes", String(region.sizeBytes)]]) },
    );
  }
}

/** Refuses growth beyond the limits of a region and of a namespace; a region may always shrink. */
function requireQuota(context: ApplyContext, namespace: string, presentBytes: number, sizeBytes: number): void {
  const { memoryRegionBytesMax } = context.limits;
  if (sizeBytes <= presentBytes) {
    return;
  }
  if (sizeBytes > memoryRegionBytesMax) {
    throw new CoordinationError("QUOTA", `a memory region has at most ${memoryRegionBytesMax} bytes`, {
      details: new Map([["limit", String(memoryRegionBytesMax)]]),
    });
  }
  context.accounts.of(namespace).requireQuota("memory_bytes", sizeBytes - presentBytes);
}

function countUsage(context: ApplyContext, namespace: string, bytes: number): void {
  context.accounts.of(namespace).count("memory_bytes", bytes);
  context.countTotal("memoryBytes", bytes);
}

/** Stores the next version of the region and returns its number. */
function changeRegion(context: ApplyContext, namespace: string, region: MemoryRegion, sizeBytes: number): number {
  const changed = { ...region, sizeBytes, version: region.version + 1, updatedAtMs: context.wallMs };
  context.transaction.put(memoryRegionRow(namespace, region.regionId), encodeRow(regionFields, changed));
  return changed.version;
}

function quote(namespace: string, regionId: Uint8Array): string {
  return JSON.stringify(`${namespace}/${derivedIdText(regionId)}`);
}

/** Bytes of a region's row, for the data quota: the memory itself counts per namespace. */
function bytesOfRow(namespace: string, label: string): number {
  const region = { sizeBytes: 0, version: 0, createRevision: 0, createdAtMs: 0, updatedAtMs: 0, label };
  return memoryRegionRow(namespace, new Uint8Array(REGION_ID_BYTES)).length + encodeRow(regionFields, region).length;
}
