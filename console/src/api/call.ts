/** Calls of the contract as JSON: POST, the name of the service and the method, one message there and one back. */

import type { Json, JsonInput } from "./json.ts";
import { randomId } from "./random-id.ts";
import { requestJson } from "./request.ts";

/** The services that members serve to clients. */
type Service =
  | "ClusterAdminService"
  | "ClusterService"
  | "KeyValueService"
  | "LockService"
  | "MemoryService"
  | "SessionService"
  | "WatchService";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** False: a member that cannot answer now is a part of what the view shows. By default the call is repeated. */
  readonly isRepeatable?: boolean;
}

/** Calls a method that changes nothing. Throws an ApiError. */
export async function read<Request, Response>(
  service: Service,
  method: string,
  message: JsonInput<Request>,
  options: CallOptions = {},
): Promise<Json<Response>> {
  return await post(service, method, message as object, options, {});
}

/** Calls a method that changes something. Its request id makes it safe to repeat. Throws an ApiError. */
export async function change<Request, Response>(
  service: Service,
  method: string,
  message: JsonInput<Request>,
): Promise<Json<Response>> {
  return await post(service, method, message as object, {}, { "Request-Id": randomId() });
}

async function post<Response>(
  service: Service,
  method: string,
  message: object,
  options: CallOptions,
  headers: Readonly<Record<string, string>>,
): Promise<Json<Response>> {
  return await requestJson<Json<Response>>(`coordination.v1.${service}/${method}`, message, {
    isRepeatable: true,
    ...options,
    method: "POST",
    headers: { "API-Version": "v1", ...headers },
  });
}
