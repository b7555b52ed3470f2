/**
 * The restore of a cluster: the state of a backup becomes the state of a new cluster's only member, in a directory that
 * belongs to no cluster.
 *
 * The caller first adds the rows of a snapshot, then the entries after it, and then completes it with the plan for the
 * new cluster. Until then the directory stays as it was. It does not know the format of backups.
 */

import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DIRECTORY_MODE } from "../files/index.ts";
import type { Identity } from "../identity/index.ts";
import { OfflineState } from "../state/index.ts";
import { type StagedSuccessor, type SuccessorMember, type SuccessorPlan, stageSuccessor } from "./successor.ts";
import { beginSuccessor, mintIncarnation, requireUnused } from "./successor-directory.ts";

export class Restoration {
  /** The caller fills it with the rows and entries of the backup. */
  readonly state: OfflineState;
  readonly #directory: string;
  readonly #making: string;
  readonly #incarnation: string;

  private constructor(directory: string, making: string, incarnation: string, state: OfflineState) {
    this.#directory = directory;
    this.#making = making;
    this.#incarnation = incarnation;
    this.state = state;
  }

  /** Raises Refused if the directory belongs to a cluster, a StoreError, or what the file system raises. */
  static async begin(directory: string): Promise<Restoration> {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    return Restoration.beginUnused(directory, await requireUnused(directory));
  }

  /** The same for a directory that is known to belong to no cluster. */
  static async beginUnused(directory: string, identity: Identity | null): Promise<Restoration> {
    const path = beginSuccessor(directory);
    const incarnation = identity?.incarnation ?? mintIncarnation();
    return new Restoration(directory, dirname(path), incarnation, await OfflineState.create(path));
  }

  /**
   * Creates the data of the new cluster around the state. On return the decision is made: `placeSuccessor` puts the
   * data in place. The caller must call this last. Raises what `stageSuccessor` raises.
   */
  async complete(plan: SuccessorPlan, member: Omit<SuccessorMember, "incarnation">): Promise<StagedSuccessor> {
    const { appliedTerm } = this.state.progress;
    const last = { lastTerm: appliedTerm, term: appliedTerm };
    return stageSuccessor(this.#directory, this.state, plan, { ...member, incarnation: this.#incarnation }, last);
  }

  /** Cancels the restore before its decision, and deletes what was written. */
  async abandon(): Promise<void> {
    await this.state.close();
    rmSync(this.#making, { recursive: true, force: true });
  }
}
