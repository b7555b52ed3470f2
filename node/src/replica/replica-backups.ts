/**
 * What backups read of a member: the state as a whole, and applied entries of its own log.
 *
 * Reading never holds up the log: entries that are still to be archived are kept only as long as entries for members that
 * are behind. What was compacted meanwhile is said, and not waited for.
 */

import type { RaftCore } from "../raft/index.ts";
import type { Progress } from "../state/index.ts";
import type { ApplyLoop } from "./apply-loop.ts";
import { type StateExport, StateExports, type StateExportsOptions } from "./state-exports.ts";

export interface ReplicaBackupsOptions extends StateExportsOptions {
  readonly core: RaftCore;
  readonly applyLoop: ApplyLoop;
  /** Whether the state is about to be replaced. */
  readonly isReplacing: () => boolean;
}

export class ReplicaBackups {
  readonly #options: ReplicaBackupsOptions;
  readonly #exports: StateExports;
  #keptFrom = Number.POSITIVE_INFINITY;

  constructor(options: ReplicaBackupsOptions) {
    this.#options = options;
    this.#exports = new StateExports(options);
  }

  /** How far the state has come. */
  get progress(): Progress {
    return this.#options.applyLoop.progress;
  }

  /** The first entry that the log still has. */
  get firstIndex(): number {
    return this.#options.core.firstIndex;
  }

  /** The first entry that is still to be archived; infinity if none is. */
  get keptFrom(): number {
    return this.#keptFrom;
  }

  /** Whether there are as many exports as may be. */
  get isFull(): boolean {
    return this.#exports.isFull;
  }

  /** Keeps entries from this index on in the log, as long as they are not too many. Infinity: none. */
  keepFrom(index: number): void {
    this.#keptFrom = index;
  }

  /** The state as it is now; null if it cannot be read at the moment. */
  openExport(): StateExport | null {
    return this.#options.isReplacing() ? null : this.#exports.open(this.progress);
  }

  /** Rows of applied entries from this one on, at least one, up to about so many bytes; null if they were compacted. */
  entries(from: number, maxBytes: number): readonly Uint8Array[] | null {
    const { core } = this.#options;
    const { appliedIndex } = this.progress;
    if (from < core.firstIndex) {
      return null;
    }
    return from > appliedIndex ? [] : core.entries(from, appliedIndex, maxBytes);
  }

  /** The term of an entry, or null if the log does not have it any more. */
  entryTerm(index: number): number | null {
    const { core } = this.#options;
    return index < core.firstIndex - 1 || index > this.progress.appliedIndex ? null : core.entryTerm(index);
  }

  onTick(nowMs: number): void {
    this.#exports.onTick(nowMs);
  }

  abort(reason: string): void {
    this.#exports.abort(reason);
  }
}
