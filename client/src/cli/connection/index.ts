export { type Configuration, changeConfiguration, readConfiguration } from "./configuration.ts";
export {
  type AdminConnection,
  type ClusterPlace,
  type Connection,
  findAdminConnection,
  findConnection,
  findPlace,
} from "./connection.ts";
export { contextFields, selectContext, unknownContext } from "./context-source.ts";
export type { ConnectionOptions } from "./option-source.ts";
