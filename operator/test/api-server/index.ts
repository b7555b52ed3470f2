/** An API server in memory, for specs. */
export { ApiServer, type Call, type Fault, isReady } from "./api-server.ts";
export { configOf } from "./config.ts";
export { installDefinitions } from "./definitions.ts";
export { matches, Refused, revisionOf, type Stored } from "./store.ts";
export { type Any, copyOf } from "./tree.ts";
