export { type Configuration, changeConfiguration, readConfiguration } from "./configuration.ts";
export {
  type AdminConnection,
  assertEndpoints,
  type ClusterPlace,
  type Connection,
  findAdminConnection,
  findConnection,
  findPlace,
} from "./connection.ts";
export { contextFields, selectContext, unknownContext } from "./context-source.ts";
export type { ConnectionOptions } from "./option-source.ts";
export { assertOneSecret } from "./secret-files.ts";
export { assertKeyPair } from "./tls-files.ts";
