/**
 * The bodies of the HTTP routes that have no gRPC method, in JSON. Members answer with them; the client and the console
 * read them. Only types: nothing here runs. The OpenAPI document describes the same bodies, with their limits.
 */

export type { ApiKeyBody, ApiKeysBody, CreatedApiKeyBody, LoginBody, UserBody, UsersBody } from "./accounts.ts";
export type { EventBody, EventsBody, LogBody, LogsBody } from "./event-logs.ts";
export type { NamespaceUsageBody, QuotaBody, UsageBody, UsageNumbersBody } from "./usage.ts";
