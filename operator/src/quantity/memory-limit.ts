/** The memory limit of a member's container. */
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { parseQuantity } from "./quantity.ts";

export interface MemoryLimit {
  /** The field that sets it. */
  readonly field: string;
  /** As it is written there. */
  readonly amount: string;
  /** Undefined for a text that is no quantity. */
  readonly bytes: number | undefined;
}

/** @returns what applies: that of `podTemplate` replaces that of `resources`; undefined without a limit */
export function memoryLimitOf({ resources, podTemplate }: CoordinationCluster["spec"]): MemoryLimit | undefined {
  const containers = podTemplate?.spec?.containers;
  const member = Array.isArray(containers) ? containers.find((container) => container?.name === "quoin") : undefined;
  const overlaid: unknown = member?.resources?.limits?.memory;
  if (typeof overlaid === "string" || typeof overlaid === "number") {
    const field = "spec.podTemplate.spec.containers[quoin].resources.limits.memory";
    return { field, amount: String(overlaid), bytes: parseQuantity(String(overlaid)) };
  }
  const own = resources.limits?.memory;
  return own === undefined
    ? undefined
    : { field: "spec.resources.limits.memory", amount: String(own), bytes: parseQuantity(String(own)) };
}
