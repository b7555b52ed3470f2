/** KeyValueService: listings of namespaces, and of the versions of one key. */

import {
  KeyEvent_Type,
  type KeyVersion as KeyVersionMessage,
  type ListKeyVersionsRequest,
  type ListKeyVersionsResponse,
  type ListNamespacesRequest,
  type ListNamespacesResponse,
  Namespace,
} from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  ALL_NAMESPACES,
  COUNTED_QUOTAS,
  DEFAULT_STATE_LIMITS,
  decodeText,
  encodeText,
  type KeyVersion,
  type ListedNamespace,
  listKeyVersions,
  listNamespaces,
  namespaceLimitsOf,
  readNamespaceUsage,
  type StateReader,
  unsetLimits,
} from "../../state/index.ts";
import type { Call, Reply } from "./call.ts";
import { allowedNamespaces, mayRead } from "./caller-rights.ts";
import type { Executor, Query } from "./executor.ts";
import {
  consistencyField,
  keyField,
  LISTING_BYTES_MAX,
  namespaceField,
  namespacePrefixField,
  pageSizeField,
} from "./field-rules.ts";
import type { HostReplica } from "./host.ts";
import { keyValue } from "./key-value-methods.ts";

interface NamespacesQuery extends Query {
  readonly listing: Listing;
  readonly prefix: string;
  readonly namesOnly: boolean;
  readonly entriesMax: number;
  /** Last name that the previous page has read. */
  readonly after: string | null;
}

interface VersionsQuery extends Query {
  readonly listing: Listing;
  readonly namespace: string;
  readonly key: Uint8Array;
  readonly keysOnly: boolean;
  readonly entriesMax: number;
  /** The revision down to which the previous pages have the versions. */
  readonly before: number | null;
}

/** Namespaces of one page whose usage and limits are read, each with a few reads (S44). */
const DETAILED_MAX = 250;
const UNSET = unsetLimits(DEFAULT_STATE_LIMITS);
const NO_PREFIX = new Uint8Array(0);
const TYPES = { put: KeyEvent_Type.PUT, delete: KeyEvent_Type.DELETE, expire: KeyEvent_Type.EXPIRE } as const;

export class KeyListingMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** The caller needs no access to list: the page has only what the caller may read. */
  listNamespaces(call: Call, request: ListNamespacesRequest, reply: Reply<ListNamespacesResponse>): void {
    this.#executor.read(
      call,
      null,
      (state) => namespacesQuery(request, state),
      (replica, query) => namespacePage(call, replica, query),
      reply,
    );
  }

  listKeyVersions(call: Call, request: ListKeyVersionsRequest, reply: Reply<ListKeyVersionsResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (state) => versionsQuery(request, state),
      versionPage,
      reply,
      "keys",
    );
  }
}

// ---- Namespaces ----

function namespacesQuery(request: ListNamespacesRequest, state: StateReader): NamespacesQuery {
  const prefix = namespacePrefixField(request.prefix);
  const listing: Listing = { of: "namespaces", namespace: prefix, prefix: NO_PREFIX };
  const { namesOnly, pageToken } = request;
  const entriesMax = pageSizeField(request.pageSize);
  return {
    listing,
    prefix,
    namesOnly,
    entriesMax: namesOnly ? entriesMax : Math.min(entriesMax, DETAILED_MAX),
    after: pageToken === "" ? null : decodeText(verifyPageToken(state, listing, pageToken)),
    consistency: consistencyField(request.consistency),
  };
}

function namespacePage(
  call: Call,
  { state, revision }: HostReplica,
  { listing, prefix, namesOnly, entriesMax, after }: NamespacesQuery,
): ListNamespacesResponse {
  // Most callers with many namespaces may read all of them, so not every name needs a check of its own.
  const readsAll = mayRead(call, ALL_NAMESPACES);
  const selection = {
    prefix,
    names: readsAll ? null : allowedNamespaces(state, call),
    entriesMax,
    isVisible: (name: string) => readsAll || mayRead(call, name),
  };
  const { namespaces, next } = listNamespaces(state, selection, after);
  return {
    namespaces: namespaces.map((listed) =>
      namesOnly ? Namespace.fromPartial({ name: listed.name }) : namespaceMessage(state, listed),
    ),
    nextPageToken: next === null ? "" : signPageToken(state, listing, encodeText(next)),
    revision: BigInt(revision),
  };
}

function namespaceMessage(state: StateReader, listed: ListedNamespace): Namespace {
  const { name, createdAtMs, createRevision, deleteRevision } = listed;
  const usage = readNamespaceUsage(state, name);
  const limits = namespaceLimitsOf(state, name, UNSET);
  return {
    name,
    createdAtMs: BigInt(createdAtMs),
    createRevision: BigInt(createRevision),
    quotas: COUNTED_QUOTAS.map((quota) => ({
      name: quota,
      used: BigInt(usage[quota]),
      limit: BigInt(limits[quota]),
    })),
    deleting: deleteRevision > 0,
  };
}

// ---- Versions of a key ----

function versionsQuery(request: ListKeyVersionsRequest, state: StateReader): VersionsQuery {
  const namespace = namespaceField(request.namespace);
  const key = keyField(request.key);
  const listing: Listing = { of: "key-versions", namespace, prefix: key };
  const { pageToken, keysOnly } = request;
  return {
    listing,
    namespace,
    key,
    keysOnly,
    entriesMax: pageSizeField(request.pageSize),
    before: pageToken === "" ? null : Number(decodeText(verifyPageToken(state, listing, pageToken))),
    consistency: consistencyField(request.consistency),
  };
}

function versionPage({ state, revision, tickMs }: HostReplica, query: VersionsQuery): ListKeyVersionsResponse {
  const { listing, entriesMax, keysOnly, before } = query;
  const bounds = { entriesMax, bytesMax: LISTING_BYTES_MAX, keysOnly };
  const page = listKeyVersions(state, query, revision, before, bounds);
  const cursor = encodeText(String(page.searchedRevision));
  return {
    versions: page.versions.map((version) => versionMessage(version, tickMs)),
    nextPageToken: page.isLast ? "" : signPageToken(state, listing, cursor),
    searchedRevision: BigInt(page.searchedRevision),
    compactRevision: BigInt(page.compactRevision),
    revision: BigInt(revision),
  };
}

/** Of a version whose change is dropped, the time to live is the one that is left now. */
function versionMessage({ kind, stored, changedMs }: KeyVersion, tickMs: number): KeyVersionMessage {
  return {
    type: TYPES[kind],
    kv: keyValue(stored, changedMs ?? tickMs),
    ageMs: changedMs === null ? undefined : BigInt(Math.max(0, tickMs - changedMs)),
  };
}
