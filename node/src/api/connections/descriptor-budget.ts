/**
 * Limits the connections of clients to all ports together, so that the stores, the other members and the administrators
 * always get file descriptors.
 */

/** Descriptors for the stores and for connections of members, administrators and health checks. */
const RESERVED_DESCRIPTORS = 512;

export class DescriptorBudget {
  readonly max: number;
  #used = 0;

  /** @param descriptors how many the process may have open; Infinity = no limit. At most half of them is reserved. */
  constructor(descriptors: number) {
    this.max = Math.max(1, descriptors - Math.min(RESERVED_DESCRIPTORS, Math.ceil(descriptors / 2)));
  }

  /** Takes one descriptor. Returns false if none is left. */
  acquire(): boolean {
    if (this.#used >= this.max) {
      return false;
    }
    this.#used++;
    return true;
  }

  release(): void {
    this.#used--;
  }
}

/** Returns how many descriptors this process may have open (`ulimit -n`); Infinity if the system does not report it. */
export function descriptorLimit(): number {
  // Otherwise the report resolves names of addresses over the network.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
