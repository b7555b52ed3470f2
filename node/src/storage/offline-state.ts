/**
 * A state that no member serves: the rows of a snapshot or the copy of a member's state, and then entries of the log, applied
 * as members apply them. Backups are verified with it, and clusters are restored and recovered.
 *
 * It is written by this thread. It is durable only after `sync` or `succeed`, and until then its directory is worth nothing.
 */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import {
  type Configuration,
  changeConfiguration,
  EntryType,
  encodeEntry,
  invariant,
  NO_CONFIGURATION,
  NO_ORIGIN,
  sealEntry,
} from "../raft/index.ts";
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
} from "../state/index.ts";
import { syncDirectory } from "./durable-file.ts";
import { IncomingState } from "./incoming-state.ts";
import type { Installed } from "./installed.ts";
import { SYNC_ROW } from "./local-rows.ts";
import { DIRECTORY_MODE, openStateAt } from "./member-stores.ts";
import { Milestones } from "./milestones.ts";
import type { Rocks } from "./rocks.ts";

/** Entries that are applied as one batch, and bytes of them: what is kept in memory. */
const BATCH_ENTRIES = 512;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Any value does: the row only makes a batch that can be synced. */
const SYNCED = new Uint8Array(8);

/** What entries are applied to, once all rows are there. */
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
   * Makes an empty state, which gets the rows of a snapshot first. Raises a StoreError, or what the file system raises.
   *
   * @param path of a directory that is not there yet, in one that is
   */
  static async create(path: string, limits: StateLimits = DEFAULT_STATE_LIMITS): Promise<OfflineState> {
    mkdirSync(path, { mode: DIRECTORY_MODE });
    syncDirectory(dirname(path));
    const rocks = await openStateAt(path, true);
    return new OfflineState(rocks, limits, new IncomingState(rocks));
  }

  /** Opens a state that only this process uses. Raises a StoreError. */
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

  /** The entry that the rows say was applied last; null if they do not say any. */
  get lastOfRows(): Installed | null {
    return this.#incoming?.last ?? null;
  }

  /** All rows are there, of a state whose last entry is `lastOfRows`. Raises a StoreError. */
  finishRows(): void {
    const last = this.lastOfRows;
    invariant(this.#incoming !== null && this.#applied === null && last !== null, "rows are finished once, and whole");
    this.#incoming.finish(last);
    this.#begin();
  }

  /** The state with everything that was applied. */
  get reader(): StateReader {
    this.#commit();
    return this.#open.store;
  }

  /** How far the state has come. */
  get progress(): Progress {
    this.#commit();
    return this.#open.machine.progress;
  }

  /** Why the state is not the one that its cluster had; null unless an entry has shown it. */
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
   * Makes it the state of a new cluster, by an entry of this term behind the last one; its index is the id of the first
   * member. Then names an owner, if there is one to name. Durable on return.
   *
   * @returns the outcome for the owner; null without one
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

  /** Makes everything that was applied durable. Raises a StoreError. */
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

  /** Applies an entry that is made here, at once. */
  #applyOwn(type: EntryType, payload: Uint8Array, at: { readonly term: number; readonly wallMs: number }) {
    const { appliedIndex, tickMs } = this.progress;
    // The clock of the cluster stands still while no member leads; only the wall clock goes on.
    const row = encodeEntry(type, { tickMs, wallMs: at.wallMs, origin: NO_ORIGIN }, payload);
    sealEntry(row, at.term, appliedIndex + 1, crc32);
    const outcome = this.#apply(row);
    this.#commit();
    return outcome;
  }

  #apply(row: Uint8Array): Outcome | null {
    return this.#open.machine.apply(row, this.#reconfigure);
  }

  /** The core does the same with the same function. */
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

/** A state store without threads: batches are made durable by the last one. */
class OfflineStore implements StateStore {
  readonly #rocks: Rocks;
  readonly #milestones: Milestones;
  #failure: Error | null = null;

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
    this.#requireWhole();
    this.#rocks.write(this.#milestones.mark(changes), false);
    for (const { from, to } of dropped) {
      this.#rocks.clear(from, to, (error) => {
        this.#failure ??= error;
      });
    }
  }

  /** A batch that is synced makes everything before it durable. Blocks the calling thread. */
  sync(done: () => void): void {
    this.#requireWhole();
    this.#rocks.write(this.#milestones.mark([{ key: SYNC_ROW, value: SYNCED }]), true);
    done();
  }

  /** What fails in the background is raised by the next write. */
  #requireWhole(): void {
    if (this.#failure !== null) {
      throw this.#failure;
    }
  }
}
