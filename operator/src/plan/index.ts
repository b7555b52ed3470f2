/** What the operator does next: a pure function of what it has observed. */
export type * from "../generated/coordination-cluster.ts";
export type * from "./observed.ts";
export type * from "./plan.ts";
export { plan } from "./planner.ts";
