/** Kubernetes quantities, which every folder of the operator may read. */

export { memoryLimitOf } from "./memory-limit.ts";
export { amountOf, parseQuantity } from "./quantity.ts";
