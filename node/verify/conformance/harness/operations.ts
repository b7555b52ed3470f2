/**
 * The operations of the contract, each with its messages and the access that it needs: the 22 of the specification, the
 * two watches, listings, GetCluster, those on event logs and accounts, transactions, sessions, and some for administrators.
 */

import type { MethodDefinition } from "@grpc/grpc-js";
import { serviceDefinitions } from "@quoin/proto";

/** The access that a token must have; null = any valid token is sufficient, or none is needed. */
export type AccessLevel = "read" | "write" | "admin";

export interface Operation<Request, Response> {
  /** Name in the specification, such as `PutKey`. */
  readonly name: string;
  readonly access: AccessLevel | null;
  readonly method: MethodDefinition<Request, Response>;
  /** The request with these fields; all others have their defaults. */
  request(fields: Partial<Request>): Request;
}

interface Method<Request, Response> extends MethodDefinition<Request, Response> {
  readonly requestCodec: { fromPartial(fields: Partial<Request>): Request };
}

const {
  KeyValueService: keys,
  LockService: locks,
  MemoryService: memory,
  WatchService: watches,
  ClusterService: cluster,
  ClusterAdminService: clusterAdmin,
  EventLogService: logs,
  AccountService: accounts,
  SessionService: sessions,
  TransactionService: transactions,
} = serviceDefinitions;

function operation<Request, Response>(
  access: AccessLevel | null,
  method: Method<Request, Response>,
): Operation<Request, Response> {
  const name = method.path.slice(method.path.lastIndexOf("/") + 1);
  return { name, access, method, request: (fields) => method.requestCodec.fromPartial(fields) };
}

export const createNamespace = operation("admin", keys.createNamespace);
export const deleteNamespace = operation("admin", keys.deleteNamespace);
export const getKey = operation("read", keys.getKey);
export const putKey = operation("write", keys.putKey);
export const deleteKey = operation("write", keys.deleteKey);
export const listKeys = operation("read", keys.listKeys);
export const compareAndSwap = operation("write", keys.compareAndSwap);
export const touchKey = operation("write", keys.touchKey);
export const listNamespaces = operation(null, keys.listNamespaces);
export const countKeys = operation("read", keys.countKeys);
export const listKeyVersions = operation("read", keys.listKeyVersions);

export const createLock = operation("write", locks.createLock);
export const describeLock = operation("read", locks.describeLock);
export const acquireLock = operation("write", locks.acquireLock);
export const releaseLock = operation("write", locks.releaseLock);
export const forceReleaseLock = operation("admin", locks.forceReleaseLock);
export const deleteLock = operation("write", locks.deleteLock);
export const deleteRWLock = operation("write", locks.deleteRWLock);
export const createRWLock = operation("write", locks.createRWLock);
export const describeRWLock = operation("read", locks.describeRWLock);
export const acquireRWLock = operation("write", locks.acquireRWLock);
export const releaseRWLock = operation("write", locks.releaseRWLock);
export const setLockValue = operation("write", locks.setLockValue);
export const createSemaphore = operation("write", locks.createSemaphore);
export const describeSemaphore = operation("read", locks.describeSemaphore);
export const acquireSemaphore = operation("write", locks.acquireSemaphore);
export const releaseSemaphore = operation("write", locks.releaseSemaphore);
export const updateSemaphore = operation("write", locks.updateSemaphore);
export const deleteSemaphore = operation("write", locks.deleteSemaphore);
export const listLocks = operation("read", locks.listLocks);
export const listLockWaits = operation("read", locks.listLockWaits);

export const allocateMemory = operation("write", memory.allocateMemory);
export const describeMemory = operation("read", memory.describeMemory);
export const resizeMemory = operation("write", memory.resizeMemory);
export const freeMemory = operation("write", memory.freeMemory);
export const writeMemory = operation("write", memory.writeMemory);
export const readMemory = operation("read", memory.readMemory);
export const listMemoryRegions = operation("read", memory.listMemoryRegions);

export const createSession = operation("write", sessions.createSession);
export const renewSessions = operation("write", sessions.renewSessions);
export const endSession = operation("write", sessions.endSession);
export const describeSession = operation("read", sessions.describeSession);
export const listSessions = operation("read", sessions.listSessions);

export const createLog = operation("write", logs.createLog);
export const getLog = operation("read", logs.getLog);
export const listLogs = operation("read", logs.listLogs);
export const updateLog = operation("write", logs.updateLog);
export const deleteLog = operation("write", logs.deleteLog);
export const appendEvent = operation("write", logs.appendEvent);
export const appendEvents = operation("write", logs.appendEvents);
export const readEventPage = operation("read", logs.readEvents);
export const tailEvents = operation("read", logs.tailEvents);

export const exchangeToken = operation(null, accounts.exchangeToken);
export const login = operation(null, accounts.login);
export const verifyEmail = operation(null, accounts.verifyEmail);
export const requestPasswordReset = operation(null, accounts.requestPasswordReset);
export const createUser = operation("admin", accounts.createUser);
export const getUser = operation(null, accounts.getUser);
export const listUsers = operation("admin", accounts.listUsers);
export const updateUser = operation(null, accounts.updateUser);
export const deleteUser = operation("admin", accounts.deleteUser);
export const createApiKey = operation("write", accounts.createApiKey);
export const listApiKeys = operation(null, accounts.listApiKeys);
export const revokeApiKey = operation(null, accounts.revokeApiKey);
export const getUsage = operation("read", accounts.getUsage);

export const transact = operation("write", transactions.transact);

export const watchKeys = operation("read", watches.watchKeys);
export const watchLocks = operation("read", watches.watchLocks);
export const listStreams = operation("admin", watches.listStreams);
export const getCluster = operation(null, cluster.getCluster);
export const getMemberCounters = operation("admin", clusterAdmin.getMemberCounters);
export const compact = operation("admin", clusterAdmin.compact);
