/**
 * One member of a cluster in memory: a real consensus core over a disk whose every step the test takes by hand.
 *
 * It does only what a driver does: it keeps the write in flight until `durable`, applies the entries it receives, takes
 * over snapshots step by step, and starts again from its disk after a crash. Commands have no effect. It decodes
 * configurations from their entries as a state machine would.
 */

import { crc32 } from "node:zlib";
import {
  type AppendEffect,
  type Configuration,
  type ConfigurationChange,
  type CoreLimits,
  type Effects,
  EntryType,
  encodeEntry,
  entryPayload,
  entryTerm,
  entryType,
  isConfigurationType,
  type MemberEligibility,
  NO_CONFIGURATION,
  NO_ENVELOPE,
  RaftCore,
} from "../../src/raft/index.ts";
import { StoredLog } from "./stored-log.ts";

/** What a store keeps over a crash. */
export interface Disk {
  log: StoredLog;
  term: number;
  vote: number;
  commit: number;
  writeSeq: number;
  boot: number;
  /** Applied index, and the configuration in the state. */
  applied: number;
  appliedTerm: number;
  configuration: Configuration;
  /** Acknowledged data is known to be lost. */
  damaged: boolean;
}

/** A consistent view of a member's state, as a stream carries it to another member. */
export interface Snapshot {
  readonly from: number;
  readonly leaderTerm: number;
  readonly index: number;
  readonly term: number;
  readonly configuration: Configuration;
}

/** The content of a configuration entry. */
interface StoredChange {
  readonly change: ConfigurationChange;
  readonly expectIndex: number;
}

export const FIT: MemberEligibility = { mayVote: true, mayLead: true, damaged: false, diskFull: false };
const DAMAGED: MemberEligibility = { mayVote: false, mayLead: false, damaged: true, diskFull: false };

const ENTRY_TYPE_OF = {
  bootstrap: EntryType.Bootstrap,
  "add-slot": EntryType.AddSlot,
  reconfigure: EntryType.Reconfigure,
  leave: EntryType.Leave,
} as const;

/** An unsealed row that carries the change. */
export function changeRow(change: ConfigurationChange, expectIndex: number): Uint8Array {
  const payload = new TextEncoder().encode(JSON.stringify({ change, expectIndex } satisfies StoredChange));
  return encodeEntry(ENTRY_TYPE_OF[change.type], NO_ENVELOPE, payload);
}

/** The change in a row; a row that the leader itself adds has no payload. */
function decodeChange(row: Uint8Array): StoredChange {
  if (entryType(row) === EntryType.Leave) {
    return { change: { type: "leave" }, expectIndex: 0 };
  }
  return JSON.parse(new TextDecoder().decode(entryPayload(row))) as StoredChange;
}

/** An empty disk of a member that does not know a cluster yet. */
export function emptyDisk(): Disk {
  return {
    log: new StoredLog(),
    term: 0,
    vote: 0,
    commit: 0,
    writeSeq: 0,
    boot: 0,
    applied: 0,
    appliedTerm: 0,
    configuration: NO_CONFIGURATION,
    damaged: false,
  };
}

export class Member {
  readonly id: number;
  readonly disk: Disk;
  readonly #limits: CoreLimits;
  readonly #random: (bound: number) => number;
  /** The running core; null while the member is down. */
  core: RaftCore | null = null;
  /** Handed to the disk, and not durable yet. */
  inFlight: AppendEffect | null = null;
  /** Highest index handed out for applying. */
  applyTo = 0;
  fitness: MemberEligibility = FIT;
  /** Placed; the log has not followed yet. */
  placed: Snapshot | null = null;
  /** Why configuration changes had no effect when they were applied, oldest first. */
  readonly voids: string[] = [];

  constructor(id: number, disk: Disk, limits: CoreLimits, random: (bound: number) => number) {
    this.id = id;
    this.disk = disk;
    this.#limits = limits;
    this.#random = random;
  }

  get isUp(): boolean {
    return this.core !== null;
  }

  /** The running core. */
  get running(): RaftCore {
    if (this.core === null) {
      throw new Error(`member ${this.id} is down`);
    }
    return this.core;
  }

  /** Starts from the disk. */
  start(): void {
    const { disk } = this;
    disk.boot++;
    // The state includes every applied entry; the stored commit index may be lower.
    const commit = Math.max(disk.applied, Math.min(disk.commit, disk.log.last));
    this.core = new RaftCore({
      id: this.id,
      boot: disk.boot,
      term: disk.term,
      vote: disk.vote,
      commit,
      log: disk.log.bounds,
      configuration: disk.configuration,
      applied: disk.applied,
      writeSeq: disk.writeSeq,
      limits: this.#limits,
      random: this.#random,
      reader: disk.log,
      checksum: crc32,
    });
    this.applyTo = disk.applied;
    this.setFitness(disk.damaged ? DAMAGED : FIT);
    this.core.setHasWaiters(true);
  }

  setFitness(fitness: MemberEligibility): void {
    this.fitness = fitness;
    this.running.setEligibility(fitness);
  }

  /** Ends at once. `landsInFlight`: whether the write in flight reaches the disk. */
  crash(landsInFlight: boolean): void {
    if (landsInFlight && this.inFlight !== null) {
      this.#land(this.inFlight);
    }
    if (this.placed !== null) {
      this.#takeState(this.placed);
      this.#letLogFollow(this.placed);
    }
    this.core = null;
    this.inFlight = null;
    this.placed = null;
  }

  /** Takes the effects that change this member's data; the caller handles the others. */
  drain(): Effects {
    const effects = this.running.drain(this.inFlight === null);
    this.inFlight = effects.append ?? this.inFlight;
    if (effects.apply !== null) {
      if (effects.apply.from !== this.applyTo + 1) {
        throw new Error(`member ${this.id} is handed ${effects.apply.from} after ${this.applyTo}`);
      }
      this.applyTo = effects.apply.to;
    }
    return effects;
  }

  /** The write in flight is durable. */
  durable(): void {
    if (this.inFlight !== null) {
      const { writeSeq } = this.inFlight;
      this.#land(this.inFlight);
      this.inFlight = null;
      this.running.onAppendDurable(writeSeq);
    }
  }

  /** Applies up to the index, entry by entry. */
  apply(to: number): void {
    const { disk, running } = this;
    while (disk.applied < Math.min(to, this.applyTo)) {
      const index = disk.applied + 1;
      const [row] = running.entries(index, index, 0) as [Uint8Array];
      if (isConfigurationType(entryType(row))) {
        const { change, expectIndex } = decodeChange(row);
        const next = running.applyConfiguration(index, change, expectIndex);
        if (typeof next === "string") {
          this.voids.push(next);
        } else {
          disk.configuration = next;
        }
      }
      disk.applied = index;
      disk.appliedTerm = entryTerm(row);
      running.onApplied(index, row.length);
    }
  }

  /** Drops the log below the index; everything below it is applied. */
  compact(first: number): void {
    this.disk.log.compact(first);
    this.running.onCompacted(first, this.disk.log.prevTerm);
  }

  /** A view of the state as it is now. */
  snapshot(): Snapshot {
    const { applied, appliedTerm, configuration } = this.disk;
    return { from: this.id, leaderTerm: this.running.term, index: applied, term: appliedTerm, configuration };
  }

  /** All data of the snapshot arrived: puts it in place unless it is not wanted any more. */
  place(snapshot: Snapshot): boolean {
    const isWanted = this.running.beginInstall(snapshot.index, snapshot.term);
    if (isWanted) {
      this.placed = snapshot;
    }
    return isWanted;
  }

  /** The log has followed: switches over. */
  finishInstall(): void {
    const { placed } = this;
    if (placed === null) {
      throw new Error(`member ${this.id} installs nothing`);
    }
    this.#takeState(placed);
    this.applyTo = placed.index;
    this.placed = null;
    this.running.onSnapshotInstalled(placed.configuration);
  }

  /** What a start does when it finds a placed state whose log has not followed. */
  #letLogFollow({ index, term }: Snapshot): void {
    const { disk } = this;
    if (disk.log.last < index || disk.log.term(index) !== term) {
      disk.log.reset(index, term);
    }
    if (disk.term < term) {
      // The term of the snapshot was not written yet, so this member has not voted in it.
      disk.term = term;
      disk.vote = 0;
    }
  }

  #takeState({ index, term, configuration }: Snapshot): void {
    this.disk.applied = index;
    this.disk.appliedTerm = term;
    this.disk.configuration = configuration;
  }

  #land({ writeSeq, term, vote, commit, from, rows, resetTo }: AppendEffect): void {
    const { disk } = this;
    if (resetTo !== null) {
      disk.log.reset(resetTo.index, resetTo.term);
    }
    disk.log.replace(from, rows);
    disk.term = term;
    disk.vote = vote;
    disk.commit = commit;
    disk.writeSeq = writeSeq;
  }
}
