/** Memory regions. */

import type * as Proto from "@quoin/proto";
import { change, read } from "./call.ts";
import type { Json } from "./json.ts";
import { consistencyOf, type ReadOptions } from "./key-value.ts";

export type MemoryRegion = Json<Proto.MemoryRegion>;

/** A region, and the version that the person saw. A change is refused if another one came between. */
export interface SeenRegion {
  readonly namespace: string;
  readonly regionId: string;
  readonly expectedVersion: string;
}

const PAGE_SIZE = 100;

export async function listMemoryRegions(
  namespace: string,
  pageToken: string,
  options: ReadOptions,
): Promise<Json<Proto.ListMemoryRegionsResponse>> {
  return await read<Proto.ListMemoryRegionsRequest, Proto.ListMemoryRegionsResponse>(
    "MemoryService",
    "ListMemoryRegions",
    { namespace, pageToken, pageSize: PAGE_SIZE, consistency: consistencyOf(options) },
    options,
  );
}

export interface MemoryRange {
  readonly namespace: string;
  readonly regionId: string;
  readonly offset: number;
  readonly length: number;
}

export async function readMemory(range: MemoryRange, options: ReadOptions): Promise<Json<Proto.ReadMemoryResponse>> {
  return await read<Proto.ReadMemoryRequest, Proto.ReadMemoryResponse>(
    "MemoryService",
    "ReadMemory",
    { ...range, consistency: consistencyOf(options) },
    options,
  );
}

/** @param data base64 */
export async function writeMemory(region: SeenRegion, offset: number, data: string): Promise<void> {
  await change<Proto.WriteMemoryRequest, Proto.WriteMemoryResponse>("MemoryService", "WriteMemory", {
    ...region,
    offset,
    data,
  });
}

export async function allocateMemory(namespace: string, sizeBytes: number, label: string): Promise<string> {
  const { regionId } = await change<Proto.AllocateMemoryRequest, Proto.AllocateMemoryResponse>(
    "MemoryService",
    "AllocateMemory",
    { namespace, sizeBytes, label },
  );
  return regionId;
}

export async function resizeMemory(region: SeenRegion, sizeBytes: number): Promise<void> {
  await change<Proto.ResizeMemoryRequest, Proto.ResizeMemoryResponse>("MemoryService", "ResizeMemory", {
    ...region,
    sizeBytes,
  });
}

export async function freeMemory(region: SeenRegion): Promise<void> {
  await change<Proto.FreeMemoryRequest, Proto.FreeMemoryResponse>("MemoryService", "FreeMemory", { ...region });
}
