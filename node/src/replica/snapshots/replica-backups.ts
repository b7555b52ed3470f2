/**
 * The interface of backups to a member: reads of the whole state, and of applied entries in its own log.
 *
 * Reads never block compaction for long: entries for the archive are kept under the same limit as entries for members
 * that are behind. A read of entries that were compacted returns null.
 */

import type { Progress } from "../../state/index.ts";
import type { ApplyLoop } from "../apply/index.ts";
import type { ReadAllowance, ReplicaContext } from "../context/index.ts";
import { type StateExport, StateExports, type StateExportsContext } from "./state-exports.ts";

/** What this part shares with others. */
export type ReplicaBackupsContext = StateExportsContext & Pick<ReplicaContext, "core">;

export interface ReplicaBackupsOptions {
  readonly applyLoop: ApplyLoop;
  readonly allowance: ReadAllowance;
  /** Whether the state is about to be replaced. */
  readonly isReplacing: () => boolean;
}

export class ReplicaBackups {
  readonly #context: ReplicaBackupsContext;
  readonly #options: ReplicaBackupsOptions;
  readonly #exports: StateExports;
  #retainedFrom = Number.POSITIVE_INFINITY;

  constructor(context: ReplicaBackupsContext, options: ReplicaBackupsOptions) {
    this.#context = context;
    this.#options = options;
    this.#exports = new StateExports(context, options.allowance);
  }

  /** The progress of the state. */
  get progress(): Progress {
    return this.#options.applyLoop.progress;
  }

  /** The first entry that the log still has. */
  get firstIndex(): number {
    return this.#context.core.firstIndex;
  }

  /** The first entry that is still to be archived; infinity if none is. */
  get retainedFrom(): number {
    return this.#retainedFrom;
  }

  /** Whether the maximum number of exports is open. */
  get isFull(): boolean {
    return this.#exports.isFull;
  }

  /** Keeps entries from this index on in the log, within the limit of compaction. Infinity = none. */
  retainFrom(index: number): void {
    this.#retainedFrom = index;
  }

  /** Opens an export of the current state; null if it cannot be read at the moment. */
  openExport(): StateExport | null {
    return this.#options.isReplacing() ? null : this.#exports.open(this.progress);
  }

  /**
   * Rows of applied entries from this one on, of about `maxBytes` together and at least one row. Empty if none is
   * applied yet; null if they were compacted.
   */
  entries(from: number, maxBytes: number): readonly Uint8Array[] | null {
    const { core } = this.#context;
    const { appliedIndex } = this.progress;
    if (from < core.firstIndex) {
      return null;
    }
    return from > appliedIndex ? [] : core.entries(from, appliedIndex, maxBytes);
  }

  /** The term of an applied entry; null if the log does not have it, or it is not applied yet. */
  entryTerm(index: number): number | null {
    const { core } = this.#context;
    return index < core.firstIndex - 1 || index > this.progress.appliedIndex ? null : core.entryTerm(index);
  }

  onTick(nowMs: number): void {
    this.#exports.onTick(nowMs);
  }

  abort(reason: string): void {
    this.#exports.abort(reason);
  }
}
