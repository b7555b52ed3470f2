/**
 * MemoryService: byte regions that clients read and write by offset.
 *
 * Each method turns a request into an operation or a query, and a result into a response. The state machine decides
 * everything that depends on the state, such as whether the region exists and contains the bytes.
 */

import type {
  AllocateMemoryRequest,
  AllocateMemoryResponse,
  DescribeMemoryRequest,
  DescribeMemoryResponse,
  FreeMemoryRequest,
  FreeMemoryResponse,
  ListMemoryRegionsRequest,
  ListMemoryRegionsResponse,
  MemoryRegion as MemoryRegionMessage,
  ReadMemoryRequest,
  ReadMemoryResponse,
  ResizeMemoryRequest,
  ResizeMemoryResponse,
  WriteMemoryRequest,
  WriteMemoryResponse,
} from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  allocateMemoryOperation,
  describeMemory,
  freeMemoryOperation,
  listMemory,
  type MemoryRegion,
  readMemory,
  resizeMemoryOperation,
  type StateReader,
  writeMemoryOperation,
} from "../../state/index.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor, Query } from "./executor.ts";
import { consistencyField, guardField, labelField, namespaceField, pageSizeField } from "./field-rules.ts";
import type { HostReplica } from "./host.ts";
import {
  dataField,
  expectedVersionField,
  lengthField,
  offsetField,
  regionIdField,
  regionIdText,
  sizeField,
} from "./memory-field-rules.ts";

interface RegionQuery extends Query {
  readonly namespace: string;
  readonly regionId: Uint8Array;
}

interface ReadQuery extends RegionQuery {
  readonly offset: number;
  readonly length: number;
}

interface ListQuery extends Query {
  readonly listing: Listing;
  /** Last region of the previous page. */
  readonly after: Uint8Array | undefined;
  readonly entriesMax: number;
}

const NO_PREFIX = new Uint8Array(0);

export class MemoryMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  allocateMemory(call: Call, request: AllocateMemoryRequest, reply: Reply<AllocateMemoryResponse>): void {
    this.#executor.mutate(
      call,
      allocateMemoryOperation,
      request.namespace,
      () => ({
        kind: "allocate-memory",
        namespace: namespaceField(request.namespace),
        sizeBytes: sizeField(request.sizeBytes),
        label: labelField("label", request.label),
      }),
      (result) => ({
        regionId: regionIdText(result.regionId),
        sizeBytes: BigInt(result.sizeBytes),
        version: BigInt(result.version),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  describeMemory(call: Call, request: DescribeMemoryRequest, reply: Reply<DescribeMemoryResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      () => regionQuery(request),
      (replica, { namespace, regionId }) => ({
        region: regionMessage(namespace, describeMemory(replica.state, namespace, regionId)),
        revision: BigInt(replica.revision),
      }),
      reply,
      "memory",
    );
  }

  resizeMemory(call: Call, request: ResizeMemoryRequest, reply: Reply<ResizeMemoryResponse>): void {
    this.#executor.mutate(
      call,
      resizeMemoryOperation,
      request.namespace,
      () => ({ kind: "resize-memory", ...mutationFields(request), sizeBytes: sizeField(request.sizeBytes) }),
      (result) => ({
        sizeBytes: BigInt(result.sizeBytes),
        previousSizeBytes: BigInt(result.previousSizeBytes),
        version: BigInt(result.version),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  freeMemory(call: Call, request: FreeMemoryRequest, reply: Reply<FreeMemoryResponse>): void {
    this.#executor.mutate(
      call,
      freeMemoryOperation,
      request.namespace,
      () => ({ kind: "free-memory", ...mutationFields(request) }),
      (result) => ({ freed: true, revision: BigInt(result.revision) }),
      reply,
    );
  }

  writeMemory(call: Call, request: WriteMemoryRequest, reply: Reply<WriteMemoryResponse>): void {
    this.#executor.mutate(
      call,
      writeMemoryOperation,
      request.namespace,
      () => ({
        kind: "write-memory",
        ...mutationFields(request),
        offset: offsetField(request.offset),
        data: dataField(request.data),
      }),
      (result) => ({
        bytesWritten: BigInt(result.bytesWritten),
        version: BigInt(result.version),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  readMemory(call: Call, request: ReadMemoryRequest, reply: Reply<ReadMemoryResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      () => readQuery(request),
      (replica, { namespace, regionId, offset, length }) => {
        const { region, data } = readMemory(replica.state, namespace, regionId, offset, length);
        return {
          data,
          version: BigInt(region.version),
          sizeBytes: BigInt(region.sizeBytes),
          revision: BigInt(replica.revision),
        };
      },
      reply,
      "memory",
    );
  }

  listMemoryRegions(call: Call, request: ListMemoryRegionsRequest, reply: Reply<ListMemoryRegionsResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (state) => listQuery(request, state),
      listPage,
      reply,
      "memory",
    );
  }
}

function mutationFields(request: ResizeMemoryRequest | FreeMemoryRequest | WriteMemoryRequest) {
  return {
    namespace: namespaceField(request.namespace),
    regionId: regionIdField(request.regionId),
    expectedVersion: expectedVersionField(request.expectedVersion),
    ...guardField(request.guard),
  };
}

function regionQuery(request: DescribeMemoryRequest | ReadMemoryRequest): RegionQuery {
  return {
    namespace: namespaceField(request.namespace),
    regionId: regionIdField(request.regionId),
    consistency: consistencyField(request.consistency),
  };
}

function readQuery(request: ReadMemoryRequest): ReadQuery {
  return { ...regionQuery(request), offset: offsetField(request.offset), length: lengthField(request.length) };
}

function listQuery(request: ListMemoryRegionsRequest, state: StateReader): ListQuery {
  const listing = { of: "regions", namespace: namespaceField(request.namespace), prefix: NO_PREFIX } as const;
  return {
    listing,
    entriesMax: pageSizeField(request.pageSize),
    after: request.pageToken === "" ? undefined : verifyPageToken(state, listing, request.pageToken),
    consistency: consistencyField(request.consistency),
  };
}

function listPage(replica: HostReplica, { listing, after, entriesMax }: ListQuery): ListMemoryRegionsResponse {
  const { namespace } = listing;
  const page = listMemory(replica.state, namespace, after, entriesMax);
  const last = page.regions.at(-1);
  return {
    regions: page.regions.map((region) => regionMessage(namespace, region)),
    nextPageToken: page.more && last !== undefined ? signPageToken(replica.state, listing, last.regionId) : "",
    revision: BigInt(replica.revision),
  };
}

function regionMessage(namespace: string, region: MemoryRegion): MemoryRegionMessage {
  return {
    regionId: regionIdText(region.regionId),
    namespace,
    sizeBytes: BigInt(region.sizeBytes),
    version: BigInt(region.version),
    createdAtMs: BigInt(region.createdAtMs),
    updatedAtMs: BigInt(region.updatedAtMs),
    label: region.label,
  };
}
