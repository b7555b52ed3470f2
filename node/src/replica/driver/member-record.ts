/**
 * The record of the members as this driver has applied it, and when the process around the driver learns of a change.
 *
 * The process learns of a change only after the record is durable here, so that no power cut can undo it. A removed
 * member is not needed any more once the configuration that removes it lasts: a majority of its voters durably knows
 * that it is committed (P18).
 */

import { mark } from "../../primitives/index.ts";
import { clusterRow } from "../../state/index.ts";
import type { ReplicaContext } from "../context/index.ts";

/** What this part shares with others. */
export type MemberRecordContext = Pick<ReplicaContext, "core" | "state">;

export interface MemberRecordOptions {
  /** Called when the record has changed. */
  readonly onChanged: () => void;
  /** Called when a newer configuration lasts. */
  readonly onQuorumKnown: () => void;
  /** Makes the applied state durable; `onDurable` of this object must be called after that. */
  readonly makeDurable: () => void;
  /** Called when the list of members may have changed and is durable. */
  readonly onMembers: () => void;
}

export class MemberRecord {
  readonly #context: MemberRecordContext;
  readonly #options: MemberRecordOptions;
  #row: Uint8Array | undefined;
  /** `onMembers` is due once the applied state is durable. */
  #isReportDue = false;
  #quorumKnownConfigIndex = 0;

  constructor(context: MemberRecordContext, options: MemberRecordOptions) {
    this.#context = context;
    this.#options = options;
    this.#row = clusterRow(context.state);
  }

  /** Whether there is a record: the founding entry is applied. */
  get exists(): boolean {
    return this.#row !== undefined;
  }

  /** The newest configuration that lasts, as far as this member has heard since its start; 0 = none. */
  get quorumKnownConfigIndex(): number {
    return this.#quorumKnownConfigIndex;
  }

  /** Entries were applied, or the state was replaced: compares the record with the last one. */
  check(): void {
    const row = clusterRow(this.#context.state);
    const isSame =
      row === this.#row || (row !== undefined && this.#row !== undefined && Buffer.compare(row, this.#row) === 0);
    if (!isSame) {
      this.#row = row;
      this.#options.onChanged();
      this.reportMembers();
    }
  }

  /** Checks whether this member, as leader, has seen that its configuration lasts. */
  checkQuorumKnown(): void {
    const { core } = this.#context;
    if (core.configuration.index > this.#quorumKnownConfigIndex) {
      this.onQuorumKnown(core.quorumKnownConfigIndex);
    }
  }

  /** A leader says that this configuration lasts. */
  onQuorumKnown(configIndex: number): void {
    if (configIndex > this.#quorumKnownConfigIndex) {
      mark("replica.configuration.lasts");
      this.#quorumKnownConfigIndex = configIndex;
      this.#options.onQuorumKnown();
      this.reportMembers();
    }
  }

  /** Reports the members as soon as the record is durable. */
  reportMembers(): void {
    this.#isReportDue = true;
    this.#options.makeDurable();
  }

  /** Everything that is applied is durable. */
  onDurable(): void {
    if (this.#isReportDue) {
      this.#isReportDue = false;
      this.#options.onMembers();
    }
  }
}
