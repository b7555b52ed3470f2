/**
 * The services of the contract by their names: the only declaration of each method. It joins the generated constants,
 * which are called `<Service>Service`, with the generated codecs of the messages.
 */

import { AccountServiceService } from "./generated/coordination/v1/account.ts";
import { ClusterServiceService } from "./generated/coordination/v1/cluster.ts";
import { ClusterAdminServiceService } from "./generated/coordination/v1/cluster_admin.ts";
import { EventLogServiceService } from "./generated/coordination/v1/event_log.ts";
import { KeyValueServiceService } from "./generated/coordination/v1/key_value.ts";
import { LockServiceService } from "./generated/coordination/v1/lock.ts";
import { MemoryServiceService } from "./generated/coordination/v1/memory.ts";
import { SessionServiceService } from "./generated/coordination/v1/session.ts";
import { TransactionServiceService } from "./generated/coordination/v1/transaction.ts";
import { WatchServiceService } from "./generated/coordination/v1/watch.ts";
import { methodCodecs } from "./generated/method_codecs.ts";

type MethodCodecs = typeof methodCodecs;

/** A generated service definition whose methods also have `requestCodec` and `responseCodec`. */
type WithCodecs<Definition extends Readonly<Record<string, { readonly path: keyof MethodCodecs }>>> = {
  readonly [Name in keyof Definition]: Definition[Name] & MethodCodecs[Definition[Name]["path"]];
};

function withCodecs<Definition extends Readonly<Record<string, { readonly path: keyof MethodCodecs }>>>(
  definition: Definition,
): WithCodecs<Definition> {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    { ...method, ...methodCodecs[method.path] },
  ]);
  return Object.fromEntries(methods) as WithCodecs<Definition>;
}

/** All service definitions, by the name of the service without its package. */
export const serviceDefinitions = {
  KeyValueService: withCodecs(KeyValueServiceService),
  LockService: withCodecs(LockServiceService),
  MemoryService: withCodecs(MemoryServiceService),
  SessionService: withCodecs(SessionServiceService),
  TransactionService: withCodecs(TransactionServiceService),
  WatchService: withCodecs(WatchServiceService),
  EventLogService: withCodecs(EventLogServiceService),
  AccountService: withCodecs(AccountServiceService),
  ClusterService: withCodecs(ClusterServiceService),
  ClusterAdminService: withCodecs(ClusterAdminServiceService),
} as const;

/** Name of a service without its package. */
export type ServiceName = keyof typeof serviceDefinitions;

/** Names of all services. */
export const SERVICE_NAMES = Object.keys(serviceDefinitions) as readonly ServiceName[];

/** The package of all services. */
export const SERVICE_PACKAGE = "coordination.v1";

/** Full name of a service, as in gRPC paths, reflection and health checks: `coordination.v1.KeyValueService`. */
export function qualifiedServiceName(service: ServiceName): string {
  return `${SERVICE_PACKAGE}.${service}`;
}
