/** TypeScript SDK of Quoin. Start with createClient; an operation that fails raises a QuoinError. */

export {
  type AddMemberResult,
  type AdminClient,
  type AdminClientOptions,
  type BootstrapOptions,
  type ChangeOptions,
  type ChangeResult,
  createAdminClient,
  type MemberSlot,
  type MemberStatus,
  type Membership,
  type StatusResult,
  type TransferOptions,
  type TransferResult,
} from "./admin-client.ts";
export type { ChannelOptions } from "./channel.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { Cluster, ClusterClient } from "./cluster.ts";
export { type Credentials, createTokenSource } from "./credentials.ts";
export { conventionalHttpEndpoint, isEndpoint } from "./endpoint.ts";
export type {
  CompareAndSwapOptions,
  CompareAndSwapResult,
  Consistency,
  CreateNamespaceResult,
  DeleteOptions,
  DeleteResult,
  GetOptions,
  GetResult,
  KeyEntry,
  KeyPage,
  KeyValueClient,
  ListOptions,
  ListPageOptions,
  PutOptions,
  PutResult,
} from "./key-value.ts";
export type { CallOptions } from "./operation.ts";
export { type Outcome, QuoinError, type QuoinErrorCode, type QuoinErrorFields } from "./quoin-error.ts";
export { type Runtime, systemRuntime } from "./runtime.ts";
export type { TlsOptions } from "./tls.ts";
export { type AccessToken, type ExchangeRequest, exchangeApiKey } from "./token-exchange.ts";
export type { TokenSource } from "./token-source.ts";
