/**
 * KeyValueService: namespaces and keys.
 *
 * Each method turns a request into an operation or a query, and a result into a response. The state machine decides
 * everything that depends on the state, such as whether the key exists and has the expected revision.
 */

import type {
  CompareAndSwapRequest,
  CompareAndSwapResponse,
  CountKeysRequest,
  CountKeysResponse,
  CreateNamespaceRequest,
  CreateNamespaceResponse,
  DeleteKeyRequest,
  DeleteKeyResponse,
  DeleteNamespaceRequest,
  DeleteNamespaceResponse,
  GetKeyRequest,
  GetKeyResponse,
  KeyValue,
  ListKeysRequest,
  ListKeysResponse,
  PutKeyRequest,
  PutKeyResponse,
  TouchKeyRequest,
  TouchKeyResponse,
} from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  compareAndSwapOperation,
  countKeys,
  createNamespaceOperation,
  decodeText,
  deleteKeyOperation,
  deleteNamespaceOperation,
  getKey,
  listKeys,
  putKeyOperation,
  type StateReader,
  type StoredKey,
  touchKeyOperation,
} from "../../state/index.ts";
import { type Call, mapReply, type Reply } from "./call.ts";
import type { Executor, Query } from "./executor.ts";
import {
  consistencyField,
  deletedNamespaceField,
  expectedModRevisionField,
  guardField,
  keyField,
  LISTING_BYTES_MAX,
  namespaceField,
  ownSessionField,
  pageSizeField,
  prefixField,
  ttlField,
  valueField,
} from "./field-rules.ts";
import type { HostReplica } from "./host.ts";
import { remainingMs } from "./remaining-time.ts";

/** Keys that one call counts. */
const COUNTED_KEYS_MAX = 1_000_000;

interface KeyQuery extends Query {
  readonly namespace: string;
  readonly key: Uint8Array;
}

interface ListQuery extends Query {
  readonly listing: Listing;
  /** Last key of the previous page. */
  readonly after: Uint8Array | undefined;
  readonly entriesMax: number;
  readonly keysOnly: boolean;
}

export class KeyValueMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  createNamespace(call: Call, request: CreateNamespaceRequest, reply: Reply<CreateNamespaceResponse>): void {
    this.#executor.mutate(
      call,
      createNamespaceOperation,
      request.namespace,
      () => ({ kind: "create-namespace", namespace: namespaceField(request.namespace) }),
      (result) => ({
        namespace: request.namespace,
        createdAtMs: BigInt(result.createdAtMs),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  deleteNamespace(call: Call, request: DeleteNamespaceRequest, reply: Reply<DeleteNamespaceResponse>): void {
    this.#executor.mutate(
      call,
      deleteNamespaceOperation,
      request.namespace,
      () => ({
        kind: "delete-namespace",
        namespace: deletedNamespaceField(request.namespace),
        recursive: request.recursive,
      }),
      ({ revision }) => ({ revision: BigInt(revision) }),
      reply,
    );
  }

  getKey(call: Call, request: GetKeyRequest, reply: Reply<GetKeyResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      () => keyQuery(request),
      (replica, query) => {
        const found = getKey(replica.state, query.namespace, query.key);
        return {
          value: found.value,
          createRevision: BigInt(found.createRevision),
          modRevision: BigInt(found.modRevision),
          version: BigInt(found.version),
          expiresInMs: remainingMs(found.deadlineMs, replica.tickMs),
          sessionId: BigInt(found.sessionId ?? 0),
          revision: BigInt(replica.revision),
        };
      },
      reply,
      "keys",
    );
  }

  putKey(call: Call, request: PutKeyRequest, reply: Reply<PutKeyResponse>): void {
    this.#executor.mutate(
      call,
      putKeyOperation,
      request.namespace,
      () => putKeyOf(request),
      (result, tickMs, isWhole) => ({
        modRevision: BigInt(result.modRevision),
        created: result.created,
        previous: result.previous === null ? undefined : keyValue(result.previous, tickMs),
        previousValueOmitted: !isWhole,
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  deleteKey(call: Call, request: DeleteKeyRequest, reply: Reply<DeleteKeyResponse>): void {
    this.#executor.mutate(
      call,
      deleteKeyOperation,
      request.namespace,
      () => deleteKeyOf(request),
      (result, tickMs, isWhole) => ({
        deleted: true,
        previous: result.previous === null ? undefined : keyValue(result.previous, tickMs),
        previousValueOmitted: !isWhole,
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  compareAndSwap(call: Call, request: CompareAndSwapRequest, reply: Reply<CompareAndSwapResponse>): void {
    this.#executor.mutate(
      call,
      compareAndSwapOperation,
      request.namespace,
      () => compareAndSwapOf(request),
      (result, _tickMs, isWhole) => ({
        success: result.success,
        currentExists: result.currentExists,
        currentValue: result.currentValue,
        currentValueOmitted: !isWhole,
        modRevision: BigInt(result.modRevision),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  touchKey(call: Call, request: TouchKeyRequest, reply: Reply<TouchKeyResponse>): void {
    this.#executor.mutate(
      call,
      touchKeyOperation,
      request.namespace,
      () => touchKeyOf(request),
      (result, tickMs) => ({
        modRevision: BigInt(result.modRevision),
        expiresInMs: remainingMs(result.deadlineMs, tickMs),
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }

  listKeys(call: Call, request: ListKeysRequest, reply: Reply<ListKeysResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (state) => listQuery(request, state),
      listPage,
      reply,
      "keys",
    );
  }

  countKeys(call: Call, request: CountKeysRequest, reply: Reply<CountKeysResponse>): void {
    this.#executor.readInSteps(
      call,
      { access: "read", namespace: request.namespace },
      () => ({
        namespace: namespaceField(request.namespace),
        prefix: prefixField(request.prefix),
        consistency: consistencyField(request.consistency),
      }),
      (replica, query, mayGoOn) => countKeys(replica, query, COUNTED_KEYS_MAX, mayGoOn),
      mapReply(reply, ({ keys, more, revision }) => ({ keys: BigInt(keys), more, revision: BigInt(revision) })),
      "keys",
    );
  }
}

function keyQuery(request: GetKeyRequest): KeyQuery {
  return {
    namespace: namespaceField(request.namespace),
    key: keyField(request.key),
    consistency: consistencyField(request.consistency),
  };
}

function putKeyOf(request: PutKeyRequest) {
  return {
    kind: "put-key" as const,
    namespace: namespaceField(request.namespace),
    key: keyField(request.key),
    value: valueField("value", request.value),
    ttlSeconds: ttlField(request.ttlSeconds),
    expectedModRevision: expectedModRevisionField(request.expectedModRevision),
    returnPrevious: request.returnPrevious,
    ...ownSessionField(request.sessionId),
    ...guardField(request.guard),
  };
}

function deleteKeyOf(request: DeleteKeyRequest) {
  return {
    kind: "delete-key" as const,
    namespace: namespaceField(request.namespace),
    key: keyField(request.key),
    expectedModRevision: expectedModRevisionField(request.expectedModRevision),
    returnPrevious: request.returnPrevious,
    ...guardField(request.guard),
  };
}

function compareAndSwapOf(request: CompareAndSwapRequest) {
  const { expectedValue } = request;
  return {
    kind: "compare-and-swap" as const,
    namespace: namespaceField(request.namespace),
    key: keyField(request.key),
    expectedValue: expectedValue === undefined ? undefined : valueField("expected_value", expectedValue),
    newValue: valueField("new_value", request.newValue),
    expectedModRevision: expectedModRevisionField(request.expectedModRevision),
    ttlSeconds: ttlField(request.ttlSeconds),
    ...ownSessionField(request.sessionId),
    ...guardField(request.guard),
  };
}

function touchKeyOf(request: TouchKeyRequest) {
  return {
    kind: "touch-key" as const,
    namespace: namespaceField(request.namespace),
    key: keyField(request.key),
    ttlSeconds: ttlField(request.ttlSeconds),
    expectedModRevision: expectedModRevisionField(request.expectedModRevision),
    ...guardField(request.guard),
  };
}

function listQuery(request: ListKeysRequest, state: StateReader): ListQuery {
  const listing = {
    of: "keys" as const,
    namespace: namespaceField(request.namespace),
    prefix: prefixField(request.prefix),
  };
  return {
    listing,
    entriesMax: pageSizeField(request.pageSize),
    after: request.pageToken === "" ? undefined : verifyPageToken(state, listing, request.pageToken),
    keysOnly: request.keysOnly,
    consistency: consistencyField(request.consistency),
  };
}

function listPage(replica: HostReplica, query: ListQuery): ListKeysResponse {
  const { listing, after, entriesMax, keysOnly } = query;
  const bounds = { entriesMax, bytesMax: LISTING_BYTES_MAX, keysOnly };
  const page = listKeys(replica.state, listing.namespace, listing.prefix, after, bounds);
  const last = page.keys.at(-1);
  return {
    items: page.keys.map((stored) => keyValue(stored, replica.tickMs)),
    nextPageToken: page.more && last !== undefined ? signPageToken(replica.state, listing, last.key) : "",
    revision: BigInt(replica.revision),
  };
}

/** A key in the form for clients, with its remaining time to live at the cluster tick. */
export function keyValue(stored: StoredKey, tickMs: number): KeyValue {
  return {
    key: decodeText(stored.key),
    value: stored.value,
    createRevision: BigInt(stored.createRevision),
    modRevision: BigInt(stored.modRevision),
    version: BigInt(stored.version),
    expiresInMs: remainingMs(stored.deadlineMs, tickMs),
    sessionId: BigInt(stored.sessionId ?? 0),
  };
}
