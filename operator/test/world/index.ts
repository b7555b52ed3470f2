/** Kubernetes and members in memory, for what the operator does from beginning to end. */
export { WorldOperator } from "./operator.ts";
export { World } from "./world.ts";
