/** What the loads use of an SDK. The SDK of any language can be behind it. */

import type {
  AppendOptions,
  CallOptions,
  Client,
  CompareAndSwapOptions,
  KeyPage,
  ListOptions,
  PutOptions,
  ReadEventsOptions,
} from "@quoin/client";

type Keys = Client["keyValue"];
type Logs = Client["logs"];
/** These fields of what a method answers. */
type Answer<
  Method extends (...given: never[]) => Promise<unknown>,
  Field extends keyof Awaited<ReturnType<Method>>,
> = Promise<Pick<Awaited<ReturnType<Method>>, Field>>;
type Item = KeyPage["items"][number];

export interface LoadKeys {
  get(
    namespace: string,
    key: string,
    options?: CallOptions,
  ): Answer<Keys["get"], "value" | "createRevision" | "modRevision" | "version" | "revision">;
  put(
    namespace: string,
    key: string,
    value: string,
    options?: PutOptions,
  ): Answer<Keys["put"], "created" | "modRevision">;
  delete(namespace: string, key: string, options?: CallOptions): Answer<Keys["delete"], "revision">;
  compareAndSwap(
    namespace: string,
    key: string,
    value: string,
    options: CompareAndSwapOptions,
  ): Answer<Keys["compareAndSwap"], "success" | "currentExists" | "currentValue" | "modRevision" | "revision">;
  pages(
    namespace: string,
    options: ListOptions,
  ): AsyncIterable<
    Pick<KeyPage, "nextPageToken" | "revision"> & {
      readonly items: readonly Pick<Item, "key" | "value" | "createRevision" | "modRevision" | "version">[];
    }
  >;
}

export interface LoadLogs {
  create(name: string): Answer<Logs["create"], "logId">;
  append(log: string, payload: string, options: AppendOptions): Answer<Logs["append"], "sequence" | "replayed">;
  appendBatch(
    log: string,
    payloads: readonly string[],
    options: AppendOptions,
  ): Answer<Logs["appendBatch"], "sequences" | "replayed">;
  read(
    log: string,
    options: ReadEventsOptions,
  ): Promise<{
    readonly events: readonly {
      readonly sequence: number;
      readonly key?: string | undefined;
      readonly payload: Uint8Array;
    }[];
    readonly lastSequence: number;
  }>;
}

/** A client of an SDK. Its operations reject with a QuoinError. */
export interface LoadClient {
  readonly keyValue: LoadKeys;
  readonly logs: LoadLogs;
  close(): unknown;
}

/** Makes a client of these members, whose operations have this deadline over all attempts. */
export type Connect = (endpoints: readonly string[], timeoutMs: number) => LoadClient;
