/** Kubernetes and members in memory, for what the operator does from beginning to end. */
export { Drive } from "./drive.ts";
export { World } from "./world.ts";
