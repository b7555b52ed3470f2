/** Kubernetes quantities, which every folder of the operator may read. */

export { amountOf, parseQuantity } from "./quantity.ts";
