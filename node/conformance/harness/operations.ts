/**
 * The operations of the contract, each with its messages and the access that it needs: the 22 of the specification, the
 * two watches, and GetCluster.
 */

import type { MethodDefinition } from "@grpc/grpc-js";
import {
  AcquireLockRequest,
  AcquireRWLockRequest,
  AllocateMemoryRequest,
  CompactRequest,
  CompareAndSwapRequest,
  CreateLockRequest,
  CreateNamespaceRequest,
  CreateRWLockRequest,
  DeleteKeyRequest,
  DescribeLockRequest,
  DescribeMemoryRequest,
  DescribeRWLockRequest,
  ForceReleaseLockRequest,
  FreeMemoryRequest,
  GetClusterRequest,
  GetKeyRequest,
  ListKeysRequest,
  ListMemoryRegionsRequest,
  PutKeyRequest,
  ReadMemoryRequest,
  ReleaseLockRequest,
  ReleaseRWLockRequest,
  ResizeMemoryRequest,
  serviceDefinitions,
  WatchKeysRequest,
  WatchLocksRequest,
  WriteMemoryRequest,
} from "@quoin/proto";

/** The access that a token must have; null = any valid token is sufficient. */
export type AccessLevel = "read" | "write" | "admin";

export interface Operation<Request, Response> {
  /** Name in the specification, such as `PutKey`. */
  readonly name: string;
  readonly access: AccessLevel | null;
  readonly method: MethodDefinition<Request, Response>;
  /** The request with these fields; all others have their defaults. */
  request(fields: Partial<Request>): Request;
}

interface RequestCodec<Request> {
  fromPartial(fields: Partial<Request>): Request;
}

const {
  KeyValueService: keys,
  LockService: locks,
  MemoryService: memory,
  WatchService: watches,
  ClusterService: cluster,
  ClusterAdminService: clusterAdmin,
} = serviceDefinitions;

function operation<Request, Response>(
  access: AccessLevel | null,
  method: MethodDefinition<Request, Response>,
  codec: RequestCodec<Request>,
): Operation<Request, Response> {
  const name = method.path.slice(method.path.lastIndexOf("/") + 1);
  return { name, access, method, request: (fields) => codec.fromPartial(fields) };
}

export const createNamespace = operation("admin", keys.createNamespace, CreateNamespaceRequest);
export const getKey = operation("read", keys.getKey, GetKeyRequest);
export const putKey = operation("write", keys.putKey, PutKeyRequest);
export const deleteKey = operation("write", keys.deleteKey, DeleteKeyRequest);
export const listKeys = operation("read", keys.listKeys, ListKeysRequest);
export const compareAndSwap = operation("write", keys.compareAndSwap, CompareAndSwapRequest);

export const createLock = operation("write", locks.createLock, CreateLockRequest);
export const describeLock = operation("read", locks.describeLock, DescribeLockRequest);
export const acquireLock = operation("write", locks.acquireLock, AcquireLockRequest);
export const releaseLock = operation("write", locks.releaseLock, ReleaseLockRequest);
export const forceReleaseLock = operation("admin", locks.forceReleaseLock, ForceReleaseLockRequest);
export const createRWLock = operation("write", locks.createRwLock, CreateRWLockRequest);
export const describeRWLock = operation("read", locks.describeRwLock, DescribeRWLockRequest);
export const acquireRWLock = operation("write", locks.acquireRwLock, AcquireRWLockRequest);
export const releaseRWLock = operation("write", locks.releaseRwLock, ReleaseRWLockRequest);

export const allocateMemory = operation("write", memory.allocateMemory, AllocateMemoryRequest);
export const describeMemory = operation("read", memory.describeMemory, DescribeMemoryRequest);
export const resizeMemory = operation("write", memory.resizeMemory, ResizeMemoryRequest);
export const freeMemory = operation("write", memory.freeMemory, FreeMemoryRequest);
export const writeMemory = operation("write", memory.writeMemory, WriteMemoryRequest);
export const readMemory = operation("read", memory.readMemory, ReadMemoryRequest);
export const listMemoryRegions = operation("read", memory.listMemoryRegions, ListMemoryRegionsRequest);

export const watchKeys = operation("read", watches.watchKeys, WatchKeysRequest);
export const watchLocks = operation("read", watches.watchLocks, WatchLocksRequest);
export const getCluster = operation(null, cluster.getCluster, GetClusterRequest);
export const compact = operation("admin", clusterAdmin.compact, CompactRequest);
