/**
 * The state that a new cluster takes over, before any member serves it: entries of the former cluster are applied to it
 * offline, and then the succession.
 *
 * It is written by this thread, and is durable only when it is sealed. Until then its directory is worth nothing.
 */

import { crc32 } from "node:zlib";
import {
  type Configuration,
  changeConfiguration,
  EntryType,
  encodeEntry,
  NO_CONFIGURATION,
  NO_ORIGIN,
  sealEntry,
} from "../raft/index.ts";
import {
  type Change,
  DEFAULT_STATE_LIMITS,
  type Divergence,
  encodeSuccession,
  type KeyRange,
  type Progress,
  type Reconfigure,
  type Row,
  readCluster,
  type StateLimits,
  StateMachine,
  type StateReader,
  type StateStore,
  type Succession,
} from "../state/index.ts";
import { SYNC_ROW } from "./local-rows.ts";
import { Milestones } from "./milestones.ts";
import type { Rocks } from "./rocks.ts";

/** Entries that are applied as one batch, and bytes of them: what is kept in memory. */
const BATCH_ENTRIES = 512;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Any value does: the row only makes a batch that can be synced. */
const SYNCED = new Uint8Array(8);

/** What a person, or a program on their behalf, decides about the new cluster. Secrets are made before. */
export interface SuccessorPlan
  extends Pick<Succession, "cause" | "clusterId" | "revisionJump" | "signingKey" | "pageTokenKey"> {
  /** Wall clock in milliseconds. */
  readonly wallMs: number;
}

export class SuccessorState {
  readonly #store: OfflineStore;
  readonly #machine: StateMachine;
  #configuration: Configuration;
  #batchEntries = 0;
  #batchBytes = 0;

  /** @param rocks a state that only this process has open */
  constructor(rocks: Rocks, limits: StateLimits = DEFAULT_STATE_LIMITS) {
    this.#store = new OfflineStore(rocks);
    this.#machine = new StateMachine(this.#store, (previous, bytes) => crc32(bytes, previous), limits);
    this.#configuration = readCluster(this.#store)?.configuration ?? NO_CONFIGURATION;
  }

  /** The state with everything that was applied. */
  get reader(): StateReader {
    this.#commit();
    return this.#store;
  }

  /** How far the state has come. */
  get progress(): Progress {
    this.#commit();
    return this.#machine.progress;
  }

  /** Why the state is not the one that its cluster had; null unless an entry has shown it. */
  get divergence(): Divergence | null {
    return this.#machine.divergence;
  }

  /** Applies the next entry of the former cluster. */
  apply(row: Uint8Array): void {
    this.#machine.apply(row, this.#reconfigure);
    this.#batchEntries++;
    this.#batchBytes += row.length;
    if (this.#batchEntries >= BATCH_ENTRIES || this.#batchBytes >= BATCH_BYTES) {
      this.#commit();
    }
  }

  /**
   * Makes it the state of the new cluster, by an entry of this term behind the last one, and durable. Returns how far it
   * has come: its applied index is the id of the first member.
   */
  succeed(succession: Succession, at: { readonly term: number; readonly wallMs: number }): Progress {
    const { appliedIndex, tickMs } = this.progress;
    // The clock of the cluster stands still while no member leads; only the wall clock goes on.
    const envelope = { tickMs, wallMs: at.wallMs, origin: NO_ORIGIN };
    const row = encodeEntry(EntryType.Bootstrap, envelope, encodeSuccession(succession));
    sealEntry(row, at.term, appliedIndex + 1, crc32);
    this.#configuration = NO_CONFIGURATION;
    this.#machine.apply(row, this.#reconfigure);
    this.#commit();
    this.#store.sync(() => undefined);
    return this.#machine.progress;
  }

  /** The core does the same with the same function. */
  readonly #reconfigure: Reconfigure = (index, change, expectIndex) => {
    const next = changeConfiguration(this.#configuration, index, change, expectIndex);
    if (typeof next !== "string") {
      this.#configuration = next;
    }
    return next;
  };

  #commit(): void {
    this.#machine.commit();
    this.#batchEntries = 0;
    this.#batchBytes = 0;
  }
}

/** A state store without threads: batches are made durable by the last one. */
class OfflineStore implements StateStore {
  readonly #rocks: Rocks;
  readonly #milestones: Milestones;

  constructor(rocks: Rocks) {
    this.#rocks = rocks;
    this.#milestones = Milestones.read(rocks);
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#rocks.get(key);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    this.#rocks.scan(from, to, visit);
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    this.#rocks.write(this.#milestones.mark(changes), false);
    for (const { from, to } of dropped) {
      this.#rocks.clear(from, to, (error) => {
        if (error !== null) {
          throw error;
        }
      });
    }
  }

  /** A batch that is synced makes everything before it durable. Blocks the calling thread. */
  sync(done: () => void): void {
    this.#rocks.write(this.#milestones.mark([{ key: SYNC_ROW, value: SYNCED }]), true);
    done();
  }
}
