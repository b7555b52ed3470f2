/** Listings of locks, with their holders and their waiting requests. */

import {
  type ListLocksResponse,
  type Lock as LockMessage,
  type LockWait as LockWaitMessage,
  RWMode,
  serviceDefinitions,
} from "@quoin/proto";
import {
  consistencyField,
  execute,
  type OperationContext,
  type Plain,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { flag, int32Field, optionsCheck, text, textField, whole32 } from "../options/index.ts";
import { type LockHold, type LockMode, type LockState, lockTarget, modeName, stateName } from "./lock-messages.ts";

const service = serviceDefinitions.LockService;
const listLocksMethod = unaryMethod(service.listLocks);
const listLockWaitsMethod = unaryMethod(service.listLockWaits);

/** The name of a lock, and its kind. */
export interface LockName {
  readonly name: string;
  /** Whether it is a read-write lock. */
  readonly rw: boolean;
  /** Permits of a semaphore; 0 = it is none. */
  readonly permits: number;
}

/** One page of names of locks: exclusive ones and semaphores first, then read-write locks. */
export interface LockNamePage {
  readonly locks: readonly LockName[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** Options of one page of names. */
export interface ListLockNamesOptions extends ReadOptions {
  /** Prefix of the names; default: all locks of the namespace. */
  readonly namePrefix?: string | undefined;
  /** Locks per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; default: the first page. */
  readonly pageToken?: string | undefined;
}

/** Options of one page of locks. */
export interface ListLocksOptions extends ListLockNamesOptions {
  /** Whether to leave out free locks. Default false. */
  readonly inUseOnly?: boolean | undefined;
  /** How many waits of each lock the page has at most, 0 to 100. Default 0. */
  readonly waitsMax?: number | undefined;
}

/** A request that waits for a lock. */
export type LockWait = Omit<Plain<LockWaitMessage>, "mode"> & {
  /** The mode that it waits for; only for a read-write lock. */
  readonly mode: LockMode | undefined;
};

/** A hold in a listing. */
export type ListedHold = LockHold & {
  /** Only for a read-write lock. */
  readonly mode: LockMode | undefined;
  /** 0 for other locks than semaphores. */
  readonly permits: number;
};

/** A lock, and who holds and awaits it. */
export type ListedLock = Omit<Plain<LockMessage>, "state" | "holders" | "waits"> & {
  readonly state: LockState;
  /** Its live holds in the order of their grants, at most the first 10; `holderCount` counts all. */
  readonly holders: readonly ListedHold[];
  /** The first waits, in the order in which they are served. */
  readonly waits: readonly LockWait[];
};

/** One page of locks: exclusive ones and semaphores first, then read-write locks. It may be empty and still have a next page. */
export type LockPage = Omit<Plain<ListLocksResponse>, "locks"> & { readonly locks: readonly ListedLock[] };

/** Options of listWaits. */
export interface ListLockWaitsOptions extends ReadOptions {
  /** Whether it is the read-write lock of that name. Default false. */
  readonly rw?: boolean | undefined;
}

const nameRules = { ...readRules, namePrefix: text, pageSize: whole32, pageToken: text };
const checkListNames = optionsCheck<ListLockNamesOptions>(nameRules);
const checkList = optionsCheck<ListLocksOptions>({ ...nameRules, inUseOnly: flag, waitsMax: whole32 });
const checkListWaits = optionsCheck<ListLockWaitsOptions>({ ...readRules, rw: flag });

/** Reads one page of the names of locks of all kinds. Raises a QuoinError. */
export async function fetchLockNames(
  context: OperationContext,
  namespace: string,
  options: ListLockNamesOptions,
): Promise<LockNamePage> {
  checkListNames(options, "locks.listNames");
  const { locks, nextPageToken } = await fetchPage(context, namespace, options, true);
  return { locks: locks.map(({ name, rw, permits }) => ({ name, rw, permits })), nextPageToken };
}

/** Reads one page of locks of all kinds. Raises a QuoinError. */
export async function fetchLocks(
  context: OperationContext,
  namespace: string,
  options: ListLocksOptions,
): Promise<LockPage> {
  checkList(options, "locks.list");
  const page = await fetchPage(context, namespace, options, false);
  return { ...toPlain(page), locks: page.locks.map(listedLock) };
}

/** Reads the queue of a lock. Raises a QuoinError. */
export async function fetchLockWaits(
  context: OperationContext,
  namespace: string,
  name: string,
  options: ListLockWaitsOptions,
): Promise<readonly LockWait[]> {
  checkListWaits(options, "locks.listWaits");
  const { rw = false, consistency } = options;
  const request = { ...lockTarget(namespace, name), rw, consistency: consistencyField(consistency) };
  const { message } = await execute(context, listLockWaitsMethod, request, options);
  return message.waits.map(withMode);
}

async function fetchPage(
  context: OperationContext,
  namespace: string,
  options: ListLocksOptions,
  namesOnly: boolean,
): Promise<ListLocksResponse> {
  const request = {
    namespace: textField("namespace", namespace),
    namePrefix: textField("namePrefix", options.namePrefix ?? ""),
    pageSize: int32Field("pageSize", options.pageSize ?? 0),
    pageToken: textField("pageToken", options.pageToken ?? ""),
    inUseOnly: options.inUseOnly ?? false,
    waitsMax: int32Field("waitsMax", options.waitsMax ?? 0),
    namesOnly,
    consistency: consistencyField(options.consistency),
  };
  return (await execute(context, listLocksMethod, request, options)).message;
}

function listedLock(lock: LockMessage): ListedLock {
  return {
    ...toPlain(lock),
    state: stateName(lock.state),
    holders: lock.holders.map(withMode),
    waits: lock.waits.map(withMode),
  };
}

/** With the name of its mode; only read-write locks have one. */
function withMode<Message extends { readonly mode: RWMode }>(
  message: Message,
): Omit<Plain<Message>, "mode"> & { readonly mode: LockMode | undefined } {
  const { mode } = message;
  return { ...toPlain(message), mode: mode === RWMode.RW_MODE_UNSPECIFIED ? undefined : modeName(mode) };
}
