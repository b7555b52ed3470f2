/** What the operator does with clusters, again and again. */
export { Operator } from "./operator.ts";
export { Reconciler } from "./reconciler.ts";
