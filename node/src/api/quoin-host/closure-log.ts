/**
 * The log of connections that were closed because of what their clients did. Clients must not fill the log, so each
 * reason has its own limit of one line a second. Frequent closures for one reason cannot hide another reason, and the
 * reasons are a fixed set, which bounds the lines of all reasons together.
 */
import type { CloseReason } from "../../http2/index.ts";
import { SparseLog, type WarningLog } from "../connections/index.ts";

/** The reason for a connection with too many refused calls. */
export const CUT = "too-many-refused-calls";
export type ClosureReason = CloseReason | typeof CUT;

/** Minimum time between two lines about the same reason, in milliseconds. */
const INTERVAL_MS = 1_000;

export interface ClosureLogOptions {
  readonly log: WarningLog;
  /** Name of the port, for the log. */
  readonly portName: string;
  /** Monotonic clock in milliseconds. */
  readonly monotonicMs: () => number;
}

export class ClosureLog {
  readonly #options: ClosureLogOptions;
  readonly #byReason = new Map<ClosureReason, SparseLog>();

  constructor(options: ClosureLogOptions) {
    this.#options = options;
  }

  /** @param address of the client, as host:port. */
  closed(reason: ClosureReason, address: string): void {
    const { log, portName: port, monotonicMs } = this.#options;
    let lines = this.#byReason.get(reason);
    if (lines === undefined) {
      lines = new SparseLog(log, INTERVAL_MS, monotonicMs);
      this.#byReason.set(reason, lines);
    }
    lines.warn({ port, reason, address }, "a connection was closed because of what its client did");
  }
}
