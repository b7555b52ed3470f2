/**
 * Keys and values in namespaces: the KeyValueService of the contract, typed, with counts as numbers.
 *
 * Keys and namespaces are strings without lone surrogates (rule S16). Values are bytes; a string is sent as its UTF-8
 * form. Reads are linearizable by default. Every method raises a QuoinError; the comments list only the errors of the
 * method itself.
 */

import {
  type CompareAndSwapResponse,
  type CountKeysResponse,
  type CreateNamespaceResponse,
  type DeleteKeyResponse,
  type DeleteNamespaceResponse,
  type GetKeyResponse,
  type KeyValue,
  type ListKeysResponse,
  type ListNamespacesResponse,
  type PutKeyResponse,
  serviceDefinitions,
  type TouchKeyResponse,
} from "@quoin/proto";
import {
  type CallOptions,
  consistencyField,
  execute,
  type GuardedOptions,
  guardedRules,
  guardField,
  type OperationContext,
  type Plain,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import {
  abortSignal,
  bytes,
  bytesField,
  callback,
  callRules,
  flag,
  int32Field,
  int64Field,
  optionsCheck,
  text,
  textField,
  whole,
  whole32,
} from "../options/index.ts";
import { allPages } from "../pages/index.ts";
import { fetchKeyVersions, type KeyVersionPage, type KeyVersionsOptions } from "./key-versions.ts";

const service = serviceDefinitions.KeyValueService;
const createNamespaceMethod = unaryMethod(service.createNamespace);
const deleteNamespaceMethod = unaryMethod(service.deleteNamespace);
const listNamespacesMethod = unaryMethod(service.listNamespaces);
const getKeyMethod = unaryMethod(service.getKey);
const putKeyMethod = unaryMethod(service.putKey);
const deleteKeyMethod = unaryMethod(service.deleteKey);
const listKeysMethod = unaryMethod(service.listKeys);
const countKeysMethod = unaryMethod(service.countKeys);
const compareAndSwapMethod = unaryMethod(service.compareAndSwap);
const touchKeyMethod = unaryMethod(service.touchKey);

/** Between two looks at a namespace that is being deleted. */
const DELETION_PAUSE_MS = 250;

/** A key with its value and its history, at one revision. */
export type KeyEntry = Plain<KeyValue>;

/** Answer of createNamespace. */
export type CreateNamespaceResult = Plain<CreateNamespaceResponse>;

/** Options of deleteNamespace. */
export interface DeleteNamespaceOptions extends CallOptions {
  /** Delete it although it has keys, locks, memory regions or event logs. Default: false. */
  readonly recursive?: boolean | undefined;
}

/** Answer of deleteNamespace. */
export type DeleteNamespaceResult = Plain<DeleteNamespaceResponse>;

/** Options of untilNamespaceDeleted. */
export interface UntilNamespaceDeletedOptions {
  /** Ends the wait, which then fails with CANCELLED. The deletion goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Called a few times a second with what is left, as listNamespaces shows it. */
  readonly onProgress?: ((left: NamespacePage["namespaces"][number]) => void) | undefined;
}

/** One page of namespaces, ordered by name. */
export type NamespacePage = Plain<ListNamespacesResponse>;

/** Options of one page of namespaces. */
export interface ListNamespacesOptions extends ReadOptions {
  /** Prefix of the names; default: all. */
  readonly prefix?: string | undefined;
  /** Whether to leave out everything but the names. Default false. */
  readonly namesOnly?: boolean | undefined;
  /** Namespaces per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; default: the first page. */
  readonly pageToken?: string | undefined;
}

/** Answer of get. */
export type GetResult = Plain<GetKeyResponse>;

/** The state of a key before a change. */
export type PreviousEntry = Omit<KeyEntry, "value"> & {
  /** Undefined if the answer belongs to a repeated attempt and the service no longer keeps the value. */
  value: Uint8Array | undefined;
};

/** Answer of put. */
export type PutResult = Omit<Plain<PutKeyResponse>, "previous"> & { previous: PreviousEntry | undefined };

/** Answer of delete. */
export type DeleteResult = Omit<Plain<DeleteKeyResponse>, "previous"> & { previous: PreviousEntry | undefined };

/** One page of keys, in the order of their UTF-8 bytes. */
export type KeyPage = Plain<ListKeysResponse>;

/** Answer of compareAndSwap. */
export type CompareAndSwapResult = Omit<Plain<CompareAndSwapResponse>, "currentValue"> & {
  /**
   * The current value of the key: the new one after success. Undefined if the key does not exist. Also undefined if
   * `currentValueOmitted` shows that the answer belongs to a repeated attempt and the value is no longer kept.
   */
  currentValue: Uint8Array | undefined;
};

/** Answer of touch. */
export type TouchResult = Plain<TouchKeyResponse>;

/** Options of put. */
export interface PutOptions extends GuardedOptions {
  /** Life of the key in seconds, 1 to 31,536,000; without it the key does not expire, and an earlier life ends. */
  readonly ttlSeconds?: number | undefined;
  /** Id of a session of this user, with which the key ends; without it the key belongs to no session any more. */
  readonly sessionId?: number | undefined;
  /** The revision that the key must have; 0 = it must not exist. Otherwise FAILED_PRECONDITION / REVISION_MISMATCH. */
  readonly expectedModRevision?: number | undefined;
  /** Whether the answer contains the previous state of the key. */
  readonly returnPrevious?: boolean | undefined;
}

/** Options of delete. */
export interface DeleteOptions extends GuardedOptions {
  /** The revision that the key must have, else FAILED_PRECONDITION / REVISION_MISMATCH. */
  readonly expectedModRevision?: number | undefined;
  /** Whether the answer contains the last state of the key. */
  readonly returnPrevious?: boolean | undefined;
}

/** Options of touch. */
export interface TouchOptions extends GuardedOptions {
  /** The revision that the key must have, else FAILED_PRECONDITION / REVISION_MISMATCH. */
  readonly expectedModRevision?: number | undefined;
}

/** Answer of count. */
export type CountResult = Plain<CountKeysResponse>;

/** Options of a listing. */
export interface ListOptions extends ReadOptions {
  /** The prefix of the keys; default: all keys. */
  readonly prefix?: string | undefined;
  /** Entries per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
  /** Whether to leave out the values. */
  readonly keysOnly?: boolean | undefined;
}

/** Options of one page. */
export interface ListPageOptions extends ListOptions {
  /** `nextPageToken` of the page before; the first page by default. */
  readonly pageToken?: string | undefined;
}

/** Options of a count. */
export interface CountOptions extends ReadOptions {
  /** The prefix of the keys; default: all keys. */
  readonly prefix?: string | undefined;
}

/** The expected state of a key to swap. Without an expectation it must not exist; with both, both must match. */
export interface CompareAndSwapOptions extends GuardedOptions {
  /** The key must exist with exactly this value, which may be empty. */
  readonly expectedValue?: string | Uint8Array | undefined;
  /** The revision that the key must have; 0 = it must not exist. */
  readonly expectedModRevision?: number | undefined;
  /** Life of the key in seconds after a successful write, 1 to 31,536,000; without it the key does not expire. */
  readonly ttlSeconds?: number | undefined;
  /** Id of a session of this user, with which the key ends; without it the key belongs to no session any more. */
  readonly sessionId?: number | undefined;
}

const { requestId: _, ...pagesRules } = { ...readRules, prefix: text, pageSize: whole32, keysOnly: flag };
const checkCreateNamespace = optionsCheck<CallOptions>(callRules);
const checkDeleteNamespace = optionsCheck<DeleteNamespaceOptions>({ ...callRules, recursive: flag });
const checkUntilDeleted = optionsCheck<UntilNamespaceDeletedOptions>({ signal: abortSignal, onProgress: callback });
const checkGet = optionsCheck<ReadOptions>(readRules);
const checkPut = optionsCheck<PutOptions>({
  ...guardedRules,
  ttlSeconds: whole,
  sessionId: whole,
  expectedModRevision: whole,
  returnPrevious: flag,
});
const checkDelete = optionsCheck<DeleteOptions>({
  ...guardedRules,
  expectedModRevision: whole,
  returnPrevious: flag,
});
const checkTouch = optionsCheck<TouchOptions>({ ...guardedRules, expectedModRevision: whole });
const checkList = optionsCheck<ListPageOptions>({ ...readRules, ...pagesRules, pageToken: text });
const checkListNamespaces = optionsCheck<ListNamespacesOptions>({
  ...readRules,
  prefix: text,
  namesOnly: flag,
  pageSize: whole32,
  pageToken: text,
});
const checkCount = optionsCheck<CountOptions>({ ...readRules, prefix: text });
const checkPages = optionsCheck<Omit<ListOptions, "requestId">>(pagesRules);
const checkCompareAndSwap = optionsCheck<CompareAndSwapOptions>({
  ...guardedRules,
  expectedValue: bytes,
  expectedModRevision: whole,
  ttlSeconds: whole,
  sessionId: whole,
});

/** Reads and writes keys. */
export class KeyValueClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a namespace: 1 to 63 characters, `^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`. Needs the access `admin`.
   *
   * @throws QuoinError ALREADY_EXISTS / NAMESPACE_EXISTS.
   */
  async createNamespace(namespace: string, options: CallOptions = {}): Promise<CreateNamespaceResult> {
    checkCreateNamespace(options, "keyValue.createNamespace");
    const request = { namespace: textField("namespace", namespace) };
    return toPlain((await execute(this.#context, createNamespaceMethod, request, options)).message);
  }

  /**
   * Begins to delete a namespace, and does not wait for the end: see untilNamespaceDeleted. From then on every other
   * request in it is refused. Needs the access `admin`. Nothing undoes it.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY for a namespace with objects, unless `recursive`;
   *   NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async deleteNamespace(namespace: string, options: DeleteNamespaceOptions = {}): Promise<DeleteNamespaceResult> {
    checkDeleteNamespace(options, "keyValue.deleteNamespace");
    const request = { namespace: textField("namespace", namespace), recursive: options.recursive ?? false };
    return toPlain((await execute(this.#context, deleteNamespaceMethod, request, options)).message);
  }

  /**
   * Waits until nothing is left of a namespace whose deletion has begun, however long that takes. Its name is then free
   * again. Returns at once if it is not being deleted.
   *
   * @throws QuoinError like listNamespaces; CANCELLED if the signal aborts.
   */
  async untilNamespaceDeleted(namespace: string, options: UntilNamespaceDeletedOptions = {}): Promise<void> {
    checkUntilDeleted(options, "keyValue.untilNamespaceDeleted");
    const { signal, onProgress } = options;
    for (;;) {
      const { namespaces } = await this.listNamespaces({ prefix: namespace, pageSize: 1, signal });
      const [left] = namespaces;
      if (left?.name !== namespace || !left.deleting) {
        return;
      }
      onProgress?.(left);
      // The next call tells that the signal has aborted.
      await this.#context.runtime.sleep(DELETION_PAUSE_MS, signal).catch(() => undefined);
    }
  }

  /**
   * Reads a key. An empty value is a value; an absent key is an error (rule S14).
   *
   * @throws QuoinError NOT_FOUND / KEY_NOT_FOUND or NAMESPACE_NOT_FOUND.
   */
  async get(namespace: string, key: string, options: ReadOptions = {}): Promise<GetResult> {
    checkGet(options, "keyValue.get");
    const request = { ...target(namespace, key), consistency: consistencyField(options.consistency) };
    return toPlain((await execute(this.#context, getKeyMethod, request, options)).message);
  }

  /**
   * Creates or overwrites a key of 1 to 1,024 bytes with a value of at most 1 MiB.
   *
   * @throws QuoinError FAILED_PRECONDITION / REVISION_MISMATCH; NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async put(namespace: string, key: string, value: string | Uint8Array, options: PutOptions = {}): Promise<PutResult> {
    checkPut(options, "keyValue.put");
    const request = {
      ...target(namespace, key),
      value: bytesField("value", value),
      ttlSeconds: int64Field("ttlSeconds", options.ttlSeconds ?? 0),
      sessionId: int64Field("sessionId", options.sessionId ?? 0),
      expectedModRevision: revisionField(options.expectedModRevision),
      returnPrevious: options.returnPrevious ?? false,
      guard: guardField(options.guard),
    };
    return withPrevious(toPlain((await execute(this.#context, putKeyMethod, request, options)).message));
  }

  /**
   * Removes a key.
   *
   * @throws QuoinError NOT_FOUND / KEY_NOT_FOUND or NAMESPACE_NOT_FOUND; FAILED_PRECONDITION / REVISION_MISMATCH.
   */
  async delete(namespace: string, key: string, options: DeleteOptions = {}): Promise<DeleteResult> {
    checkDelete(options, "keyValue.delete");
    const request = {
      ...target(namespace, key),
      expectedModRevision: revisionField(options.expectedModRevision),
      returnPrevious: options.returnPrevious ?? false,
      guard: guardField(options.guard),
    };
    return withPrevious(toPlain((await execute(this.#context, deleteKeyMethod, request, options)).message));
  }

  /**
   * Gives a key a new time to live from now on, 1 to 31,536,000 seconds; 0 = it does not expire any more. Nothing else
   * changes: the key keeps its value, revision and version, and watches get no event.
   *
   * @throws QuoinError NOT_FOUND / KEY_NOT_FOUND or NAMESPACE_NOT_FOUND; FAILED_PRECONDITION / REVISION_MISMATCH.
   */
  async touch(namespace: string, key: string, ttlSeconds: number, options: TouchOptions = {}): Promise<TouchResult> {
    checkTouch(options, "keyValue.touch");
    const request = {
      ...target(namespace, key),
      ttlSeconds: int64Field("ttlSeconds", ttlSeconds),
      expectedModRevision: revisionField(options.expectedModRevision),
      guard: guardField(options.guard),
    };
    return toPlain((await execute(this.#context, touchKeyMethod, request, options)).message);
  }

  /**
   * Reads one page of the namespaces that the caller may read. `nextPageToken` is empty on the last page.
   *
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async listNamespaces(options: ListNamespacesOptions = {}): Promise<NamespacePage> {
    checkListNamespaces(options, "keyValue.listNamespaces");
    const request = {
      prefix: textField("prefix", options.prefix ?? ""),
      pageSize: int32Field("pageSize", options.pageSize ?? 0),
      pageToken: textField("pageToken", options.pageToken ?? ""),
      namesOnly: options.namesOnly ?? false,
      consistency: consistencyField(options.consistency),
    };
    return toPlain((await execute(this.#context, listNamespacesMethod, request, options)).message);
  }

  /**
   * Reads one page of the keys with a prefix. `nextPageToken` is empty on the last page.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async list(namespace: string, options: ListPageOptions = {}): Promise<KeyPage> {
    checkList(options, "keyValue.list");
    const request = {
      namespace: textField("namespace", namespace),
      prefix: textField("prefix", options.prefix ?? ""),
      pageSize: int32Field("pageSize", options.pageSize ?? 0),
      pageToken: textField("pageToken", options.pageToken ?? ""),
      keysOnly: options.keysOnly ?? false,
      consistency: consistencyField(options.consistency),
    };
    return toPlain((await execute(this.#context, listKeysMethod, request, options)).message);
  }

  /**
   * Reads all pages of the keys with a prefix, each when it is needed. Every page is a separate operation, with the
   * whole `timeoutMs`. The pages may have different revisions; a watch from the first page's revision + 1 misses
   * nothing.
   *
   * @throws QuoinError like list.
   */
  async *pages(namespace: string, options: Omit<ListOptions, "requestId"> = {}): AsyncGenerator<KeyPage, void, void> {
    checkPages(options, "keyValue.pages");
    yield* allPages((pageToken) => this.list(namespace, { ...options, pageToken }));
  }

  /**
   * Counts the keys with a prefix, exactly at the revision of the answer, up to 1,000,000. `more` tells whether there
   * are more.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async count(namespace: string, options: CountOptions = {}): Promise<CountResult> {
    checkCount(options, "keyValue.count");
    const request = {
      namespace: textField("namespace", namespace),
      prefix: textField("prefix", options.prefix ?? ""),
      consistency: consistencyField(options.consistency),
    };
    return toPlain((await execute(this.#context, countKeysMethod, request, options)).message);
  }

  /**
   * Reads one page of the versions of a key, the newest first, as far back as the change history reaches. Deletions and
   * expiries are versions too; the key need not exist now. `nextPageToken` is empty on the last page.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async versions(namespace: string, key: string, options: KeyVersionsOptions = {}): Promise<KeyVersionPage> {
    return fetchKeyVersions(this.#context, namespace, key, options);
  }

  /**
   * Writes a key if it is as expected. A failed comparison is an answer with `success: false`, not an error.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async compareAndSwap(
    namespace: string,
    key: string,
    newValue: string | Uint8Array,
    options: CompareAndSwapOptions = {},
  ): Promise<CompareAndSwapResult> {
    checkCompareAndSwap(options, "keyValue.compareAndSwap");
    const { expectedValue } = options;
    const request = {
      ...target(namespace, key),
      expectedValue: expectedValue === undefined ? undefined : bytesField("expectedValue", expectedValue),
      newValue: bytesField("newValue", newValue),
      expectedModRevision: revisionField(options.expectedModRevision),
      ttlSeconds: int64Field("ttlSeconds", options.ttlSeconds ?? 0),
      sessionId: int64Field("sessionId", options.sessionId ?? 0),
      guard: guardField(options.guard),
    };
    const result = toPlain((await execute(this.#context, compareAndSwapMethod, request, options)).message);
    const isKnown = result.currentExists && !result.currentValueOmitted;
    return { ...result, currentValue: isKnown ? result.currentValue : undefined };
  }
}

/** The answer with an omitted value as undefined, so that callers do not read it as an empty value. */
function withPrevious<Result extends { previous: KeyEntry | undefined; previousValueOmitted: boolean }>(
  result: Result,
): Omit<Result, "previous"> & { previous: PreviousEntry | undefined } {
  const { previous, previousValueOmitted } = result;
  const isOmitted = previous !== undefined && previousValueOmitted;
  return { ...result, previous: isOmitted ? { ...previous, value: undefined } : previous };
}

function target(namespace: string, key: string): { namespace: string; key: string } {
  return { namespace: textField("namespace", namespace), key: textField("key", key) };
}

function revisionField(revision: number | undefined): bigint | undefined {
  return revision === undefined ? undefined : int64Field("expectedModRevision", revision);
}
