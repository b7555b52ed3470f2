/**
 * The restore of a cluster: the state of a backup becomes that of the only member of a new cluster, in a directory that
 * belongs to no cluster.
 *
 * Rows of a snapshot come first, then entries that followed it, then the plan for the new cluster. Until it is complete
 * the directory is as it was. It knows nothing of how backups look.
 */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { entryTerm, invariant } from "../raft/index.ts";
import type { Change, MemberAddress, Progress, Row } from "../state/index.ts";
import { crashPoint } from "./crash-point.ts";
import { syncDirectory } from "./durable-file.ts";
import type { Identity } from "./identity.ts";
import { IncomingState } from "./incoming-state.ts";
import type { Installed } from "./installed.ts";
import { DIRECTORY_MODE, openStateAt } from "./member-stores.ts";
import type { StagedSuccessor } from "./recovery.ts";
import type { Rocks } from "./rocks.ts";
import { beginSuccessor, completeSuccessor, mintIncarnation, requireUnused } from "./successor-directory.ts";
import { type SuccessorPlan, SuccessorState } from "./successor-state.ts";

/** Whose data the directory becomes. */
export interface RestoredMember {
  readonly clusterName: string;
  readonly name: string;
  /** Where the member is reached, if that is known; the member says so when it starts. */
  readonly address: MemberAddress;
}

export class Restoration {
  readonly #directory: string;
  readonly #unused: Identity | null;
  readonly #rocks: Rocks;
  readonly #incoming: IncomingState;
  #state: SuccessorState | null = null;
  #lastTerm = 0;

  private constructor(directory: string, unused: Identity | null, rocks: Rocks) {
    this.#directory = directory;
    this.#unused = unused;
    this.#rocks = rocks;
    this.#incoming = new IncomingState(rocks);
  }

  /** Raises Refused if the directory belongs to a cluster, a StoreError, or what the file system raises. */
  static async begin(directory: string): Promise<Restoration> {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    const unused = await requireUnused(directory);
    const path = beginSuccessor(directory);
    mkdirSync(path, { mode: DIRECTORY_MODE });
    syncDirectory(dirname(path));
    return new Restoration(directory, unused, await openStateAt(path, true));
  }

  /** Adds rows of the snapshot, each key once. Raises a StoreError. */
  write(rows: readonly Row[]): void {
    this.#incoming.write(rows satisfies readonly Change[]);
  }

  /** All rows of the snapshot of this entry are there. Returns how far it has come. Raises a StoreError. */
  finishSnapshot(last: Installed): Progress {
    this.#incoming.finish(last);
    this.#state = new SuccessorState(this.#rocks);
    this.#lastTerm = last.term;
    return this.#state.progress;
  }

  /** Applies the next entry behind the snapshot. Raises an InvariantViolation if it is not the next one. */
  apply(row: Uint8Array): void {
    this.#open.apply(row);
    this.#lastTerm = entryTerm(row);
  }

  /** How far the state has come. */
  get progress(): Progress {
    return this.#open.progress;
  }

  /**
   * Makes the data of the new cluster around the state, and decides for it; `placeSuccessor` puts it in place. To be called
   * last. Raises a StoreError, or what the file system raises.
   */
  async complete(plan: SuccessorPlan, { clusterName, name, address }: RestoredMember): Promise<StagedSuccessor> {
    const { wallMs, ...decided } = plan;
    const { revision: formerRevision } = this.progress;
    const incarnation = this.#unused?.incarnation ?? mintIncarnation();
    const term = this.#lastTerm + 1;
    const progress = this.#open.succeed(
      {
        ...{ ...decided, clusterName, memberName: name, address, lastTerm: this.#lastTerm },
        incarnation: Buffer.from(incarnation, "hex"),
      },
      { term, wallMs },
    );
    await this.#rocks.close();
    crashPoint("successor.state.after");
    const memberId = progress.appliedIndex;
    await completeSuccessor(this.#directory, {
      ...{ clusterId: plan.clusterId, clusterName, name, incarnation, memberId, term },
    });
    return { progress, formerRevision };
  }

  /** Gives the restore up. What was written is deleted by the next one. */
  async abandon(): Promise<void> {
    await this.#rocks.close();
  }

  get #open(): SuccessorState {
    invariant(this.#state !== null, "entries follow a whole snapshot");
    return this.#state;
  }
}
