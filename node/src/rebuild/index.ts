/** Rebuilds the state of a cluster from its backup, independently of any member. */

export { type RebuildOptions, type RebuildProgress, type Rebuilt, rebuild } from "./rebuild.ts";
export type { RebuildPoint } from "./rebuild-point.ts";
