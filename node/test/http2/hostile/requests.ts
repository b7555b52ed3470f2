/** Requests of gRPC as the bytes of a connection, with a valid token: attacks open streams with them. */
import { randomUUID } from "node:crypto";
import { GetKeyRequest, serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { grpcFrame } from "../../harness/index.ts";
import { data, Flag } from "../index.ts";
import type { HostileConnection } from "./hostile-connection.ts";

const { getKey } = serviceDefinitions.KeyValueService;
const { watchKeys } = serviceDefinitions.WatchService;
export const NAMESPACE = "default";
/** A key with a large value, for expensive reads. */
export const LARGE_KEY = "hostile/large";
/** Prefix of the keys that another client writes during attacks. */
export const WRITTEN_PREFIX = "written/";

const GET = grpcFrame(
  Buffer.from(getKey.requestSerialize(GetKeyRequest.fromPartial({ namespace: NAMESPACE, key: LARGE_KEY }))),
);
const WATCH = grpcFrame(
  Buffer.from(
    watchKeys.requestSerialize(WatchKeysRequest.fromPartial({ namespace: NAMESPACE, prefix: WRITTEN_PREFIX })),
  ),
);

/** The fields of a request that the member accepts. */
export function fieldsOf(path: string, token: string): readonly string[] {
  return [
    ...[":method", "POST", ":scheme", "http", ":path", path, ":authority", "quoin.test"],
    ...["te", "trailers", "content-type", "application/grpc", "authorization", `Bearer ${token}`],
    ...["api-version", "v1", "request-id", randomUUID()],
  ];
}

/** A read of the large value, on a new stream. It waits for its answer, as a busy member reads so many slowly. */
export function getRequest(
  connection: HostileConnection,
  token: string,
): { readonly id: number; readonly bytes: Buffer } {
  return request(connection, [...fieldsOf(getKey.path, token), "grpc-timeout", "1M"], GET);
}

/** A watch of all written keys, on a new stream. */
export function watchRequest(
  connection: HostileConnection,
  token: string,
): { readonly id: number; readonly bytes: Buffer } {
  return request(connection, fieldsOf(watchKeys.path, token), WATCH);
}

function request(connection: HostileConnection, fields: readonly string[], body: Buffer) {
  const id = connection.nextStreamId();
  return { id, bytes: Buffer.concat([connection.encoder.headers(id, fields), data(id, body, Flag.EndStream)]) };
}
