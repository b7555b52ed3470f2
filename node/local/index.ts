export type { Endpoints } from "./cluster-files.ts";
export { LocalCluster } from "./local-cluster.ts";
export type { LocalOptions } from "./options.ts";
export { freeBasePort } from "./ports.ts";
export { StartError } from "./start-error.ts";
