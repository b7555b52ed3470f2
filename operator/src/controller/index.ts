/** What the operator does with one cluster, again and again. */
export { type Audience, type Defaults, Reconciler } from "./reconciler.ts";
