/**
 * Memory regions: the MemoryService of the contract, typed, with counts as numbers.
 *
 * A region is a sequence of bytes, read and written by offset. One call sees or changes one version of it completely; a
 * call outside its bounds does nothing. Every method raises a QuoinError; the comments list only the errors of the
 * method itself. All methods of a region raise NOT_FOUND / REGION_NOT_FOUND.
 */

import {
  type AllocateMemoryResponse,
  type FreeMemoryResponse,
  type ListMemoryRegionsResponse,
  type MemoryRegion as MemoryRegionMessage,
  type ReadMemoryResponse,
  type ResizeMemoryResponse,
  serviceDefinitions,
  type WriteMemoryResponse,
} from "@quoin/proto";
import {
  type CallOptions,
  consistencyField,
  execute,
  guardedRules,
  guardField,
  type OperationContext,
  type Plain,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import {
  bytesField,
  callRules,
  int32Field,
  int64Field,
  optionsCheck,
  text,
  textField,
  whole,
  whole32,
} from "../options/index.ts";
import { allPages } from "../pages/index.ts";
import { MemoryRegion, type RegionChangeOptions } from "./memory-region.ts";

const service = serviceDefinitions.MemoryService;
const allocateMethod = unaryMethod(service.allocateMemory);
const describeMethod = unaryMethod(service.describeMemory);
const resizeMethod = unaryMethod(service.resizeMemory);
const freeMethod = unaryMethod(service.freeMemory);
const writeMethod = unaryMethod(service.writeMemory);
const readMethod = unaryMethod(service.readMemory);
const listMethod = unaryMethod(service.listMemoryRegions);

/** A region without its bytes. */
export type MemoryRegionInfo = Plain<MemoryRegionMessage>;

/** Answer of allocate. */
export type AllocateResult = Plain<AllocateMemoryResponse>;

/** Answer of describe. */
export type DescribeRegionResult = MemoryRegionInfo & { readonly revision: number };

/** Answer of resize. */
export type ResizeResult = Plain<ResizeMemoryResponse>;

/** Answer of free. */
export type FreeResult = Plain<FreeMemoryResponse>;

/** Answer of write. */
export type WriteMemoryResult = Plain<WriteMemoryResponse>;

/** Answer of read: exactly the requested number of bytes, all of one version. */
export type ReadMemoryResult = Plain<ReadMemoryResponse>;

/** One page of regions, in the order of their ids. */
export type RegionPage = Plain<ListMemoryRegionsResponse>;

/** Options of an allocation. */
export interface AllocateOptions extends CallOptions {
  /** A label for people, at most 256 bytes; need not be unique. */
  readonly label?: string | undefined;
}

/** Options of a listing. */
export interface ListRegionsOptions extends ReadOptions {
  /** Regions per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

/** Options of one page. */
export interface ListRegionsPageOptions extends ListRegionsOptions {
  /** `nextPageToken` of the page before; the first page by default. */
  readonly pageToken?: string | undefined;
}

const changeRules = { ...guardedRules, expectedVersion: whole };
const { requestId: _, ...pagesRules } = { ...readRules, pageSize: whole32 };
const checkAllocate = optionsCheck<AllocateOptions>({ ...callRules, label: text });
const checkDescribe = optionsCheck<ReadOptions>(readRules);
const checkResize = optionsCheck<RegionChangeOptions>(changeRules);
const checkFree = optionsCheck<RegionChangeOptions>(changeRules);
const checkWrite = optionsCheck<RegionChangeOptions>(changeRules);
const checkRead = optionsCheck<ReadOptions>(readRules);
const checkList = optionsCheck<ListRegionsPageOptions>({ ...readRules, ...pagesRules, pageToken: text });
const checkPages = optionsCheck<Omit<ListRegionsOptions, "requestId">>(pagesRules);

/** Allocates, reads and writes memory regions. */
export class MemoryClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a region of zeros.
   *
   * @param sizeBytes at least 1, at most 64 MiB unless the service is configured otherwise.
   * @throws QuoinError RESOURCE_EXHAUSTED / QUOTA; NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async allocate(namespace: string, sizeBytes: number, options: AllocateOptions = {}): Promise<AllocateResult> {
    checkAllocate(options, "memory.allocate");
    const request = {
      namespace: textField("namespace", namespace),
      sizeBytes: int64Field("sizeBytes", sizeBytes),
      label: textField("label", options.label ?? ""),
    };
    return toPlain((await execute(this.#context, allocateMethod, request, options)).message);
  }

  /** Reads the description of a region. */
  async describe(namespace: string, regionId: string, options: ReadOptions = {}): Promise<DescribeRegionResult> {
    checkDescribe(options, "memory.describe");
    const request = { ...target(namespace, regionId), consistency: consistencyField(options.consistency) };
    const { region, revision } = (await execute(this.#context, describeMethod, request, options)).message;
    if (region === undefined) {
      throw new QuoinError({ code: "INTERNAL", message: "the answer describes no region" });
    }
    return { ...toPlain(region), revision: Number(revision) };
  }

  /**
   * Changes the size of a region. New bytes are zero, also where a larger region was shrunk before.
   *
   * @throws QuoinError FAILED_PRECONDITION / VERSION_MISMATCH; ABORTED / FENCED; RESOURCE_EXHAUSTED / QUOTA.
   */
  async resize(
    namespace: string,
    regionId: string,
    sizeBytes: number,
    options: RegionChangeOptions = {},
  ): Promise<ResizeResult> {
    checkResize(options, "memory.resize");
    const request = {
      ...target(namespace, regionId),
      sizeBytes: int64Field("sizeBytes", sizeBytes),
      ...conditions(options),
    };
    return toPlain((await execute(this.#context, resizeMethod, request, options)).message);
  }

  /**
   * Frees a region. Its id is never reused.
   *
   * @throws QuoinError FAILED_PRECONDITION / VERSION_MISMATCH; ABORTED / FENCED.
   */
  async free(namespace: string, regionId: string, options: RegionChangeOptions = {}): Promise<FreeResult> {
    checkFree(options, "memory.free");
    const request = { ...target(namespace, regionId), ...conditions(options) };
    return toPlain((await execute(this.#context, freeMethod, request, options)).message);
  }

  /**
   * Overwrites bytes of a region, all or none. A write never enlarges the region.
   *
   * @param data at most 4 MiB - 64 KiB; text is sent as its UTF-8 form. `open` writes more.
   * @throws QuoinError OUT_OF_RANGE / MEMORY_BOUNDS; INVALID_ARGUMENT / TOO_LARGE; FAILED_PRECONDITION /
   * VERSION_MISMATCH; ABORTED / FENCED.
   */
  async write(
    namespace: string,
    regionId: string,
    offset: number,
    data: string | Uint8Array,
    options: RegionChangeOptions = {},
  ): Promise<WriteMemoryResult> {
    checkWrite(options, "memory.write");
    const request = {
      ...target(namespace, regionId),
      offset: int64Field("offset", offset),
      data: bytesField("data", data),
      ...conditions(options),
    };
    return toPlain((await execute(this.#context, writeMethod, request, options)).message);
  }

  /**
   * Reads bytes of a region, all of one version. There are no short reads.
   *
   * @param length at most 4 MiB - 64 KiB. `open` reads more.
   * @throws QuoinError OUT_OF_RANGE / MEMORY_BOUNDS; INVALID_ARGUMENT / TOO_LARGE.
   */
  async read(
    namespace: string,
    regionId: string,
    offset: number,
    length: number,
    options: ReadOptions = {},
  ): Promise<ReadMemoryResult> {
    checkRead(options, "memory.read");
    const request = {
      ...target(namespace, regionId),
      offset: int64Field("offset", offset),
      length: int64Field("length", length),
      consistency: consistencyField(options.consistency),
    };
    return toPlain((await execute(this.#context, readMethod, request, options)).message);
  }

  /**
   * Reads one page of the regions of a namespace. `nextPageToken` is empty on the last page.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async list(namespace: string, options: ListRegionsPageOptions = {}): Promise<RegionPage> {
    checkList(options, "memory.list");
    const request = {
      namespace: textField("namespace", namespace),
      pageSize: int32Field("pageSize", options.pageSize ?? 0),
      pageToken: textField("pageToken", options.pageToken ?? ""),
      consistency: consistencyField(options.consistency),
    };
    return toPlain((await execute(this.#context, listMethod, request, options)).message);
  }

  /**
   * Reads all pages, each when it is needed. Every page is a separate operation, with the whole `timeoutMs`, and may
   * have another revision.
   *
   * @throws QuoinError like list.
   */
  async *pages(
    namespace: string,
    options: Omit<ListRegionsOptions, "requestId"> = {},
  ): AsyncGenerator<RegionPage, void, void> {
    checkPages(options, "memory.pages");
    yield* allPages((pageToken) => this.list(namespace, { ...options, pageToken }));
  }

  /** A region as a file: with a position, and for reads and writes of any length. Sends no request by itself. */
  open(namespace: string, regionId: string): MemoryRegion {
    return new MemoryRegion(this, namespace, regionId);
  }
}

function target(namespace: string, regionId: string): { namespace: string; regionId: string } {
  return { namespace: textField("namespace", namespace), regionId: textField("regionId", regionId) };
}

function conditions({ expectedVersion, guard }: RegionChangeOptions) {
  return {
    expectedVersion: expectedVersion === undefined ? undefined : int64Field("expectedVersion", expectedVersion),
    guard: guardField(guard),
  };
}
