/** Shared code for the operator's specs. */

export { temporaryDirectory } from "../../testing/index.ts";
export { crashing, failed, founding, table } from "./plan-tables.ts";
export { CLUSTER_ID, CONFIG_INDEX, clusterOf, idOf, NEW_REVISION, NOW, Scene, specOf } from "./scene.ts";
export { ManualTiming, settled, until } from "./timing.ts";
