/**
 * A state that no member serves: it starts with the rows of a snapshot or a copy of a member's state, and then applies
 * log entries as members do. It is used to verify backups, and to restore and recover clusters.
 *
 * This thread writes it. It is durable only after `sync` or `succeed`; until then its directory is worthless after a
 * crash.
 */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { invariant } from "../../primitives/index.ts";
import {
  type Configuration,
  changeConfiguration,
  EntryType,
  encodeEntry,
  NO_CONFIGURATION,
  NO_PROPOSAL_ORIGIN,
  sealEntry,
} from "../../raft/index.ts";
import {
  type Change,
  DEFAULT_STATE_LIMITS,
  type Divergence,
  encodeCommand,
  encodeSuccession,
  type KeyRange,
  type Outcome,
  type Progress,
  type Reconfigure,
  type ResetOwner,
  type Row,
  readCluster,
  type StateLimits,
  StateMachine,
  type StateReader,
  type StateStore,
  type Succession,
} from "../../state/index.ts";
import { DIRECTORY_MODE, syncDirectory } from "../files/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { IncomingState } from "./incoming-state.ts";
import { SYNC_ROW } from "./local-rows.ts";
import { openStateAt } from "./member-stores.ts";
import { SequenceMarkers } from "./sequence-markers.ts";
import type { SnapshotOrigin } from "./snapshot-origin.ts";

/** Entries that are applied as one batch, and their bytes; bounds the memory. */
const BATCH_ENTRIES = 512;
const BATCH_BYTES = 4 * 1024 * 1024;
/** The value does not matter: the row only serves as a batch to sync. */
const SYNCED = new Uint8Array(8);

/** The store and machine that apply entries, once all rows are written. */
interface Applied {
  readonly store: OfflineStore;
  readonly machine: StateMachine;
  configuration: Configuration;
}

export class OfflineState {
  readonly #rocks: Rocks;
  readonly #limits: StateLimits;
  readonly #incoming: IncomingState | null;
  #applied: Applied | null = null;
  #batchEntries = 0;
  #batchBytes = 0;

  private constructor(rocks: Rocks, limits: StateLimits, incoming: IncomingState | null) {
    this.#rocks = rocks;
    this.#limits = limits;
    this.#incoming = incoming;
  }

  /**
   * Creates an empty state for the rows of a snapshot. Raises a StoreError, or what the file system raises.
   *
   * @param path a directory that does not exist yet; its parent exists
   */
  static async create(path: string, limits: StateLimits = DEFAULT_STATE_LIMITS): Promise<OfflineState> {
    mkdirSync(path, { mode: DIRECTORY_MODE });
    syncDirectory(dirname(path));
    const rocks = await openStateAt(path, true);
    return new OfflineState(rocks, limits, new IncomingState(rocks));
  }

  /** Opens an existing state. No other process may use it. Raises a StoreError. */
  static async open(path: string): Promise<OfflineState> {
    const state = new OfflineState(await openStateAt(path, false), DEFAULT_STATE_LIMITS, null);
    state.#begin();
    return state;
  }

  /** Adds rows of the replicated state, each key once. Raises a StoreError. */
  writeRows(rows: readonly Row[]): void {
    invariant(this.#incoming !== null && this.#applied === null, "rows come before entries");
    this.#incoming.write(rows);
  }

  /** The last applied entry according to the rows; null if they do not contain it. */
  get lastOfRows(): SnapshotOrigin | null {
    return this.#incoming?.last ?? null;
  }

  /** All rows are written: completes the state, whose last entry is `lastOfRows`. Raises a StoreError. */
  finishRows(): void {
    const last = this.lastOfRows;
    invariant(this.#incoming !== null && this.#applied === null && last !== null, "rows are finished once, and whole");
    this.#incoming.finish(last);
    this.#begin();
  }

  /** The state with all applied entries. */
  get reader(): StateReader {
    this.#commit();
    return this.#open.store;
  }

  /** The progress of the state. */
  get progress(): Progress {
    this.#commit();
    return this.#open.machine.progress;
  }

  /** How the state differs from the cluster's, if an entry has shown that it does; otherwise null. */
  get divergence(): Divergence | null {
    return this.#open.machine.divergence;
  }

  /** Applies the next entry of the former cluster. Raises an InvariantViolation if it is not the next one. */
  apply(row: Uint8Array): void {
    this.#apply(row);
    this.#batchEntries++;
    this.#batchBytes += row.length;
    if (this.#batchEntries >= BATCH_ENTRIES || this.#batchBytes >= BATCH_BYTES) {
      this.#commit();
    }
  }

  /**
   * Makes it the state of a new cluster, by an entry of this term after the last one. The index of that entry is the id
   * of the first member. Then resets the owner, if one is given. Durable on return.
   *
   * @returns the outcome of the owner reset; null without one
   */
  succeed(
    succession: Succession,
    { owner, term, wallMs }: { readonly owner: ResetOwner | null; readonly term: number; readonly wallMs: number },
  ): Outcome | null {
    invariant(term >= this.progress.appliedTerm, "terms never fall");
    this.#open.configuration = NO_CONFIGURATION;
    this.#applyOwn(EntryType.Bootstrap, encodeSuccession(succession), { term, wallMs });
    const outcome =
      owner === null
        ? null
        : this.#applyOwn(EntryType.Command, encodeCommand({ principal: null, request: null, operation: owner }), {
            term,
            wallMs,
          });
    this.sync();
    return outcome;
  }

  /** Makes all applied entries durable. Raises a StoreError. */
  sync(): void {
    this.#commit();
    this.#open.store.sync(() => undefined);
  }

  async close(): Promise<void> {
    await this.#rocks.close();
  }

  #begin(): void {
    const store = new OfflineStore(this.#rocks);
    const machine = new StateMachine(store, (previous, bytes) => crc32(bytes, previous), this.#limits);
    this.#applied = { store, machine, configuration: readCluster(store)?.configuration ?? NO_CONFIGURATION };
  }

  get #open(): Applied {
    invariant(this.#applied !== null, "entries follow all rows");
    return this.#applied;
  }

  /** Creates an entry and applies it at once. */
  #applyOwn(type: EntryType, payload: Uint8Array, at: { readonly term: number; readonly wallMs: number }) {
    const { appliedIndex, tickMs } = this.progress;
    // The cluster tick stands still while there is no leader; only the wall clock advances.
    const row = encodeEntry(type, { tickMs, wallMs: at.wallMs, origin: NO_PROPOSAL_ORIGIN }, payload);
    sealEntry(row, at.term, appliedIndex + 1, crc32);
    const outcome = this.#apply(row);
    this.#commit();
    return outcome;
  }

  #apply(row: Uint8Array): Outcome | null {
    return this.#open.machine.apply(row, this.#reconfigure);
  }

  /** Changes the configuration with the same function as the core. */
  readonly #reconfigure: Reconfigure = (index, change, expectIndex) => {
    const next = changeConfiguration(this.#open.configuration, index, change, expectIndex);
    if (typeof next !== "string") {
      this.#open.configuration = next;
    }
    return next;
  };

  #commit(): void {
    this.#open.machine.commit();
    this.#batchEntries = 0;
    this.#batchBytes = 0;
  }
}

/** A state store without threads: a synced last batch makes all earlier ones durable. */
class OfflineStore implements StateStore {
  readonly #rocks: Rocks;
  readonly #markers: SequenceMarkers;
  #failure: Error | null = null;

  constructor(rocks: Rocks) {
    this.#rocks = rocks;
    this.#markers = SequenceMarkers.read(rocks);
  }

  get rowsRead(): number {
    return this.#rocks.rowsRead;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#rocks.get(key);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    this.#rocks.scan(from, to, visit);
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    this.#requireWhole();
    this.#rocks.write(this.#markers.addMarkers(changes), false);
    for (const { from, to } of dropped) {
      this.#rocks.clear(from, to, (error) => {
        this.#failure ??= error;
      });
    }
  }

  /** Writes a synced batch, which makes everything before it durable. Blocks the calling thread. */
  sync(done: () => void): void {
    this.#requireWhole();
    this.#rocks.write(this.#markers.addMarkers([{ key: SYNC_ROW, value: SYNCED }]), true);
    done();
  }

  /** Raises a failure of a background operation at the next write. */
  #requireWhole(): void {
    if (this.#failure !== null) {
      throw this.#failure;
    }
  }
}
