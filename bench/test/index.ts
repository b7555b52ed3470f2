/** What the specs of the benchmark share. */

export { ClusterInMemory } from "./cluster-in-memory.ts";
export { failureOf, performed } from "./performed.ts";
