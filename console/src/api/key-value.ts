/** Namespaces and keys. */

import type * as Proto from "@quoin/proto";
import { type CallOptions, change, read } from "./call.ts";
import type { ServerSentEvent } from "./event-reader.ts";
import type { Json } from "./json.ts";

export type KeyValue = Json<Proto.KeyValue>;
export type KeyVersion = Json<Proto.KeyVersion>;

/** How fresh an answer must be: a background refresh may be a second old, which costs members next to nothing. */
export interface ReadOptions extends CallOptions {
  readonly isBackground?: boolean;
}

/** Maximum number of namespaces in a menu; more can be reached by their names. */
const NAMESPACES_MAX = 1_000;
/** Proxies close connections that are silent for a minute. */
const PROGRESS_MS = "15000";

export function consistencyOf({ isBackground = false }: ReadOptions): "LINEARIZABLE" | "SERIALIZABLE" {
  return isBackground ? "SERIALIZABLE" : "LINEARIZABLE";
}

/** The names of the first namespaces that the caller may read, in order. */
export async function listNamespaceNames(options: ReadOptions): Promise<string[]> {
  const names: string[] = [];
  let pageToken = "";
  do {
    const page = await read<Proto.ListNamespacesRequest, Proto.ListNamespacesResponse>(
      "KeyValueService",
      "ListNamespaces",
      { namesOnly: true, pageToken, pageSize: NAMESPACES_MAX, consistency: consistencyOf(options) },
      options,
    );
    names.push(...page.namespaces.map(({ name }) => name));
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && names.length < NAMESPACES_MAX);
  return names;
}

export async function createNamespace(namespace: string): Promise<void> {
  await change<Proto.CreateNamespaceRequest, Proto.CreateNamespaceResponse>("KeyValueService", "CreateNamespace", {
    namespace,
  });
}

/** Begins to delete a namespace. `recursive`: also one that has something in it. */
export async function deleteNamespace(namespace: string, recursive: boolean): Promise<void> {
  await change<Proto.DeleteNamespaceRequest, Proto.DeleteNamespaceResponse>("KeyValueService", "DeleteNamespace", {
    namespace,
    recursive,
  });
}

export interface KeyListing {
  readonly namespace: string;
  readonly prefix: string;
  readonly pageToken: string;
  readonly pageSize: number;
}

/** One page of keys without their values. */
export async function listKeys(listing: KeyListing, options: ReadOptions): Promise<Json<Proto.ListKeysResponse>> {
  return await read<Proto.ListKeysRequest, Proto.ListKeysResponse>(
    "KeyValueService",
    "ListKeys",
    { ...listing, keysOnly: true, consistency: consistencyOf(options) },
    options,
  );
}

export async function getKey(
  namespace: string,
  key: string,
  options: ReadOptions,
): Promise<Json<Proto.GetKeyResponse>> {
  return await read<Proto.GetKeyRequest, Proto.GetKeyResponse>(
    "KeyValueService",
    "GetKey",
    { namespace, key, consistency: consistencyOf(options) },
    options,
  );
}

export interface KeyWrite {
  readonly namespace: string;
  readonly key: string;
  /** Base64. */
  readonly value: string;
  /** The revision of the key that the person saw; 0 = it must not exist. */
  readonly expectedModRevision: string;
  /** 0 = the key does not expire. */
  readonly ttlSeconds: number;
}

/** Writes a key if it is still as the person saw it. */
export async function compareAndSwap(write: KeyWrite): Promise<Json<Proto.CompareAndSwapResponse>> {
  const { value: newValue, ...rest } = write;
  return await change<Proto.CompareAndSwapRequest, Proto.CompareAndSwapResponse>("KeyValueService", "CompareAndSwap", {
    ...rest,
    newValue,
  });
}

export async function deleteKey(namespace: string, key: string, expectedModRevision: string): Promise<void> {
  await change<Proto.DeleteKeyRequest, Proto.DeleteKeyResponse>("KeyValueService", "DeleteKey", {
    namespace,
    key,
    expectedModRevision,
  });
}

/** One page of the history of a key, the newest version first. */
export async function listKeyVersions(
  namespace: string,
  key: string,
  pageToken: string,
  options: ReadOptions,
): Promise<Json<Proto.ListKeyVersionsResponse>> {
  const pageSize = 20;
  return await read<Proto.ListKeyVersionsRequest, Proto.ListKeyVersionsResponse>(
    "KeyValueService",
    "ListKeyVersions",
    { namespace, key, pageToken, pageSize, consistency: consistencyOf(options) },
    options,
  );
}

/** The path of the stream of changes of one key; also of longer keys that begin with it. */
export function keyStreamPath(namespace: string, key: string): string {
  const options = { keys_only: "true", progress_interval_ms: PROGRESS_MS };
  return `v1/watch/keys?${new URLSearchParams({ namespace, prefix: key, ...options })}`;
}

/** Whether an event of the stream may have changed the key: a change of it, or the beginning of the stream. */
export function concernsKey({ type, data }: ServerSentEvent, key: string): boolean {
  if (type !== "message") {
    return type === "created";
  }
  const { events } = JSON.parse(data) as Json<Proto.WatchKeysResponse>;
  return events.some(({ kv }) => kv?.key === key);
}
