/**
 * What the driver has found out about the members, and when the process around it is told.
 *
 * Nobody is told of a change before no power cut takes it back: the record of the members is durable here, and who was
 * removed by it is needed no more once its configuration lasts, which is when a majority of its voters knows for good
 * that it is committed (P18).
 */

import { mark, type RaftCore } from "../raft/index.ts";
import { clusterRow, type StateReader } from "../state/index.ts";

export interface MemberRecordOptions {
  readonly core: RaftCore;
  readonly state: StateReader;
  /** The record is another one than before. */
  readonly onChanged: () => void;
  /** A newer configuration lasts. */
  readonly onLasting: () => void;
  /** Makes what is applied durable, and calls `onDurable` of this object after that. */
  readonly makeDurable: () => void;
  /** Who the members are may have changed, and lasts. */
  readonly onMembers: () => void;
}

export class MemberRecord {
  readonly #options: MemberRecordOptions;
  #row: Uint8Array | undefined;
  /** There may be something to tell that is not durable for certain. */
  #isUntold = false;
  #lastingConfigIndex = 0;

  constructor(options: MemberRecordOptions) {
    this.#options = options;
    this.#row = clusterRow(options.state);
  }

  /** Whether there is a record: the founding entry is applied. */
  get isThere(): boolean {
    return this.#row !== undefined;
  }

  /** The newest configuration that lasts, as far as this member has heard since its start; 0 = none. */
  get lastingConfigIndex(): number {
    return this.#lastingConfigIndex;
  }

  /** Entries were applied, or the state was replaced: the record may be another one. */
  check(): void {
    const row = clusterRow(this.#options.state);
    const isSame =
      row === this.#row || (row !== undefined && this.#row !== undefined && Buffer.compare(row, this.#row) === 0);
    if (!isSame) {
      this.#row = row;
      this.#options.onChanged();
      this.tell();
    }
  }

  /** A leader may have seen by now that its configuration lasts. */
  checkLasting(): void {
    const { core } = this.#options;
    if (core.configuration.index > this.#lastingConfigIndex) {
      this.learnLasting(core.lastingConfigIndex);
    }
  }

  /** This configuration lasts, by the word of a leader. */
  learnLasting(configIndex: number): void {
    if (configIndex > this.#lastingConfigIndex) {
      mark("replica.configuration.lasts");
      this.#lastingConfigIndex = configIndex;
      this.#options.onLasting();
      this.tell();
    }
  }

  /** Tells of the members as soon as the record is durable. */
  tell(): void {
    this.#isUntold = true;
    this.#options.makeDurable();
  }

  /** Everything that was applied is durable. */
  onDurable(): void {
    if (this.#isUntold) {
      this.#isUntold = false;
      this.#options.onMembers();
    }
  }
}
