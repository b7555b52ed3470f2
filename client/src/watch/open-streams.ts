/** The open streams of a member: watches, and followers of event logs. */

import {
  enumName,
  type ListStreamsResponse,
  OpenStream_Kind,
  type OpenStream as OpenStreamMessage,
  serviceDefinitions,
} from "@quoin/proto";
import { type CallOptions, execute, type OperationContext, type Plain, toPlain, unaryMethod } from "../calls/index.ts";
import { callRules, int32Field, optionsCheck, text, textField, whole32 } from "../options/index.ts";

const listStreamsMethod = unaryMethod(serviceDefinitions.WatchService.listStreams);

/** An open stream. */
export type OpenStream = Omit<Plain<OpenStreamMessage>, "kind"> & {
  /** What it delivers; a decimal number if this client is too old to know it. */
  readonly kind: "KEYS" | "LOCKS" | "EVENTS" | (string & {});
};

/** One page of streams, the oldest first. */
export type OpenStreamPage = Omit<Plain<ListStreamsResponse>, "streams"> & { readonly streams: readonly OpenStream[] };

/** Options of one page of streams. */
export interface OpenStreamsOptions extends CallOptions {
  /** Only streams of this namespace. Default: of all, which needs an administrator of all namespaces. */
  readonly namespace?: string | undefined;
  /** Id of the member. Default: the member that gets the request. */
  readonly memberId?: string | undefined;
  /** Streams per page, 1 to 100. Default 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; the first page by default. */
  readonly pageToken?: string | undefined;
}

const checkStreams = optionsCheck<OpenStreamsOptions>({
  ...callRules,
  namespace: text,
  memberId: text,
  pageSize: whole32,
  pageToken: text,
});

/** Reads one page of the open streams of a member. Raises a QuoinError. */
export async function fetchOpenStreams(
  context: OperationContext,
  options: OpenStreamsOptions,
): Promise<OpenStreamPage> {
  checkStreams(options, "watch.streams");
  const request = {
    namespace: textField("namespace", options.namespace ?? ""),
    memberId: textField("memberId", options.memberId ?? ""),
    pageSize: int32Field("pageSize", options.pageSize ?? 0),
    pageToken: textField("pageToken", options.pageToken ?? ""),
  };
  const { message } = await execute(context, listStreamsMethod, request, options);
  const streams = message.streams.map((stream) => ({
    ...toPlain(stream),
    kind: enumName(OpenStream_Kind, stream.kind),
  }));
  return { ...toPlain(message), streams };
}
