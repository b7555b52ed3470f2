export type { Endpoints } from "./cluster-files.ts";
export { LocalCluster, StartError } from "./local-cluster.ts";
export type { LocalOptions } from "./options.ts";
export { freeBasePort } from "./ports.ts";
