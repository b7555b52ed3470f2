/** The control loop over clusters. */
export { Operator } from "./operator.ts";
export { Reconciler } from "./reconciler.ts";
