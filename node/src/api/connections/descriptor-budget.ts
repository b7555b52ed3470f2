/**
 * Limits the connections of clients to all ports together, so that the stores, the other members and the administrators
 * always get file descriptors.
 */

/** Descriptors for the stores and for connections of members, administrators and health checks. */
const RESERVED_DESCRIPTORS = 512;

/** A port that uses descriptors. */
interface Port {
  /** The number of connections of the address that has the most of them there. */
  readonly most: number;
  /** Closes one of these connections for an address with this many, and releases its descriptor; false = it does not. */
  takeOne(count: number): boolean;
}

export class DescriptorBudget {
  readonly max: number;
  readonly #ports = new Set<Port>();
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

  /** The port takes part in `takeOne`. */
  join(port: Port): void {
    this.#ports.add(port);
  }

  /** Takes a descriptor from the address with the most connections, for one with this many; false = it has not enough. */
  takeOne(count: number): boolean {
    const [first] = [...this.#ports].sort((one, other) => other.most - one.most);
    return first?.takeOne(count) ?? false;
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
