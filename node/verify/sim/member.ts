/** One simulated member: its disk, its processes one after the other, and the faults that hit it. */

import type { MemberList } from "../../src/replica/index.ts";
import type { StateReader } from "../../src/state/index.ts";
import type { Disk } from "./disk.ts";
import { Process, type World } from "./process.ts";

/** The two stores of a member, each with a thread of its own. */
export type StoreName = "log" | "state";

export interface MemberOptions {
  readonly world: World;
  readonly id: number;
  readonly name: string;
  readonly incarnation: Uint8Array;
  readonly disk: Disk;
  /** The other members, as the answer with its slot named them. */
  readonly knownMembers: MemberList | null;
  readonly onDeath: (process: Process) => void;
}

export class Member {
  readonly id: number;
  readonly name: string;
  readonly incarnation: Uint8Array;
  readonly disk: Disk;
  readonly #options: MemberOptions;
  #process: Process | null = null;
  /** Each of its stores does nothing until this time. */
  readonly #stalledUntilMs: Record<StoreName, number> = { log: 0, state: 0 };
  #isRemoved = false;
  /** What its disk has lost, until it is whole again. */
  #isDamaged = false;
  #isWiped = false;
  /** The store whose next write fails. */
  #failing: StoreName | null = null;
  /** Counts its processes, so that an event for one does not reach another. */
  #starts = 0;

  constructor(options: MemberOptions) {
    this.id = options.id;
    this.name = options.name;
    this.incarnation = options.incarnation;
    this.disk = options.disk;
    this.#options = options;
  }

  /** Its process, if it is up. */
  get process(): Process | null {
    return this.#process;
  }

  /** The state that its process has applied, or that of its disk without a process. */
  get state(): StateReader {
    return this.#process?.state ?? this.disk.state;
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  /** Other members have answered that it is not a member any more: it does not start again. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  get isDamaged(): boolean {
    return this.#isWiped || this.#isDamaged || this.disk.mirror.damaged;
  }

  /** Its directory is gone for good. */
  get isWiped(): boolean {
    return this.#isWiped;
  }

  /** A line for people. */
  describe(): string {
    const status = this.#process?.replica.status();
    if (status === undefined) {
      return `m${this.id} is ${this.#isRemoved ? "removed" : "down"}`;
    }
    const { role, term, leaderId, firstIndex, lastIndex, commitIndex, appliedIndex, alarms } = status;
    return (
      `m${this.id} ${role} term ${term} of m${leaderId} log ${firstIndex}..${lastIndex} commit ${commitIndex} ` +
      `applied ${appliedIndex} ${alarms.join("; ")}`
    );
  }

  start(): void {
    if (this.#process !== null || this.#isRemoved || this.#isWiped) {
      return;
    }
    this.#starts++;
    const { world, knownMembers } = this.#options;
    this.#process = new Process(
      world,
      {
        id: this.id,
        incarnation: this.incarnation.toHex(),
        disk: this.disk,
        stalledUntilMs: (store) => this.#stalledUntilMs[store],
        takeFailure: (store) => {
          const isFailing = this.#failing === store;
          this.#failing = isFailing ? null : this.#failing;
          return isFailing;
        },
        onDeath: (process) => {
          this.#process = null;
          this.#options.onDeath(process);
        },
        onRemoved: () => {
          this.#isRemoved = true;
        },
        onDiskStuck: () => {
          this.endStall();
          this.#process?.die("ends, as its disk does not answer");
        },
        onHealed: () => {
          this.#isDamaged = false;
        },
      },
      knownMembers,
    );
  }

  /** Kills it, and starts it again after a while. */
  crash(how: string, downMs: number): void {
    this.#process?.die(how);
    this.startAfter(downMs);
  }

  /** Starts it then, unless it is running. */
  startAfter(downMs: number): void {
    const starts = this.#starts;
    this.#options.world.heap.after(downMs, () => {
      if (this.#starts === starts) {
        this.start();
      }
    });
  }

  /** Cuts the power while it is down: unsynced data is lost, except for a prefix. */
  losePower(): void {
    this.disk.losePower(this.#options.world.disks.next());
  }

  /** These stores do nothing for this long. */
  stallDisk(durationMs: number, stores: readonly StoreName[]): void {
    for (const store of stores) {
      const untilMs = this.#options.world.heap.nowMs + durationMs;
      this.#stalledUntilMs[store] = Math.max(this.#stalledUntilMs[store], untilMs);
    }
  }

  /** The next write of the store fails: how much of it is on the disk is not known. */
  failDisk(store: StoreName): void {
    this.#failing = store;
  }

  /** No write fails any more. */
  mendDisk(): void {
    this.#failing = null;
  }

  /** The disk answers again. */
  endStall(): void {
    this.#stalledUntilMs.log = 0;
    this.#stalledUntilMs.state = 0;
  }

  /** Its directory is lost, and its process ends. */
  wipe(): void {
    this.#isWiped = true;
    this.#process?.die("loses its directory");
    this.disk.wipe();
  }

  /** It is not a member any more, and all its data is gone. */
  retire(): void {
    this.#isRemoved = true;
  }

  /** While it is down, it loses its log, or all its data except the mirror. */
  loseData(isStateLost: boolean): void {
    this.#isDamaged = true;
    this.disk.isLogLost = true;
    this.disk.isStateLost = isStateLost;
    if (isStateLost) {
      this.disk.placed = null;
    }
  }
}
