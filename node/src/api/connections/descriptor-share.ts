/**
 * How many connections clients may have of all ports together, so that the stores, the other members and the
 * administrators always find file descriptors.
 */

/** What the stores, the connections of members, administrators and health checks may need. */
const RESERVED = 512;

export class DescriptorShare {
  readonly max: number;
  #taken = 0;

  /** @param descriptors what the process may have open; Infinity = as many as it likes. At most half is reserved. */
  constructor(descriptors: number) {
    this.max = Math.max(1, descriptors - Math.min(RESERVED, Math.ceil(descriptors / 2)));
  }

  /** Takes one; false, and takes nothing, if none is left. */
  take(): boolean {
    if (this.#taken >= this.max) {
      return false;
    }
    this.#taken++;
    return true;
  }

  giveBack(): void {
    this.#taken--;
  }
}

/** How many descriptors this process may have open (`ulimit -n`); Infinity where the system says nothing of it. */
export function descriptorLimit(): number {
  // Otherwise the report asks the network for names of addresses.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
