/**
 * The wire contract of Quoin as code: every message and service of the package `coordination.v1`, generated from the
 * protobuf definitions beside this file, the types of the HTTP bodies that have no such message (`http/`), and functions
 * that servers and clients share.
 *
 * A message `X` is a type and, under the same name, an object with `encode`, `decode`, `create` and `fromPartial`. An
 * int64 is a bigint, `bytes` are a Uint8Array (a Buffer in messages that the generated clients receive), a map is a
 * Map. An absent message or `optional` field is undefined. An enum is an object of numbers and the union of them; a
 * nested enum is called `Outer_Inner`. Service definitions are in serviceDefinitions; clients are called
 * `<Service>Client`.
 */

export type { MessageCodec } from "./decode.ts";
export { decodeRequest } from "./decode.ts";
export { readDescriptorSet, readFileDescriptors } from "./descriptors.ts";
export { enumName } from "./enum-name.ts";
export * from "./generated/coordination/v1/account.ts";
export * from "./generated/coordination/v1/cluster.ts";
export * from "./generated/coordination/v1/cluster_admin.ts";
export * from "./generated/coordination/v1/event_log.ts";
export * from "./generated/coordination/v1/key_value.ts";
export * from "./generated/coordination/v1/lock.ts";
export * from "./generated/coordination/v1/memory.ts";
export * from "./generated/coordination/v1/session.ts";
export * from "./generated/coordination/v1/transaction.ts";
export * from "./generated/coordination/v1/types.ts";
export * from "./generated/coordination/v1/watch.ts";
export * from "./generated/grpc/health/v1/health.ts";
export type {
  ApiKeyBody,
  ApiKeysBody,
  CreatedApiKeyBody,
  EventBody,
  EventsBody,
  LogBody,
  LoginBody,
  LogsBody,
  NamespaceUsageBody,
  QuotaBody,
  UsageBody,
  UsageNumbersBody,
  UserBody,
  UsersBody,
} from "./http/index.ts";
export { parseInstant } from "./instant.ts";
export type { MalformedMessageProblem } from "./malformed-message-error.ts";
export { MalformedMessageError } from "./malformed-message-error.ts";
export { nearestName } from "./nearest-name.ts";
export type { RawServiceDefinition } from "./raw-methods.ts";
export { rawMethods } from "./raw-methods.ts";
export type { ServiceName } from "./services.ts";
export { qualifiedServiceName, SERVICE_NAMES, SERVICE_PACKAGE, serviceDefinitions } from "./services.ts";
export type { EncodedDetail, ErrorFacts, StatusDetails } from "./status-details.ts";
export {
  decodeStatusDetails,
  ERROR_DOMAIN,
  encodedDetails,
  encodeStatusDetails,
  STATUS_DETAILS_TRAILER,
} from "./status-details.ts";
export { unknownName } from "./unknown-name.ts";
