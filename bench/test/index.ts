/** Shared code of the benchmark's specs. */

export { ClusterInMemory } from "./cluster-in-memory.ts";
export { failureOf, performed } from "./performed.ts";
