/** What is needed of a call of the gRPC library beyond its interface: the HTTP/2 stream under it. */

import type { ServerHttp2Stream } from "node:http2";
import type { ServerInterceptingCall } from "@grpc/grpc-js";
import { invariant } from "../../raft/index.ts";

/** The HTTP/2 stream of a call, as the library hands the call to its interceptors. */
export function streamOf(call: ServerInterceptingCall): ServerHttp2Stream {
  const { stream } = call as unknown as { readonly stream?: ServerHttp2Stream };
  invariant(stream !== undefined, "the gRPC library keeps the stream of a call in the call");
  return stream;
}
