/**
 * What happens to the members, one event after the other: members are killed and replaced, the leader changes, and
 * backups and snapshots are taken.
 *
 * The last member is never stopped, so its process is as old as the load. What it uses more and more of is a leak.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { MEMBERS, type Members } from "../members/index.ts";
import type { FaultTimes } from "./pace/index.ts";

export interface SoakEvent {
  readonly name: string;
  /** Whether calls may fail meanwhile. */
  readonly isFault: boolean;
  /** Returns what there is to say about it; empty = nothing. */
  readonly run: (members: Members, interrupted: AbortSignal) => Promise<string>;
}

/** An event that has happened. */
export interface PastEvent {
  readonly name: string;
  readonly atSeconds: number;
  readonly seconds: number;
  readonly isFault: boolean;
  readonly note: string;
}

/** The position of the member that is never stopped. */
export const STEADY = MEMBERS - 1;
/** How long a killed follower is away. */
const AWAY_MS = 5_000;
const MS_PER_SECOND = 1_000;
const BYTES_PER_MIB = 1_024 * 1_024;

export const EVENTS: readonly SoakEvent[] = [
  {
    name: "follower killed",
    isFault: true,
    run: async (members, interrupted) => {
      const at = await stoppableFollower(members);
      await members.kill(at);
      await sleep(AWAY_MS, undefined, { signal: interrupted });
      await members.start(at);
      await members.untilReady(at);
      return members.nameOf(at);
    },
  },
  {
    name: "leader moved",
    isFault: true,
    run: async (members) => {
      const { at } = await members.untilLeader();
      const next = (at + 1) % MEMBERS;
      await members.transferLeadership(next);
      return `from ${members.nameOf(at)} to ${members.nameOf(next)}`;
    },
  },
  {
    name: "backup",
    isFault: false,
    run: async (members) => {
      const { bytes } = await members.backUp(await stoppableFollower(members));
      return mebibytes(bytes);
    },
  },
  {
    name: "leader killed",
    isFault: true,
    run: async (members) => {
      const { at } = await members.untilLeader();
      if (at === STEADY) {
        await members.transferLeadership(0);
      }
      await members.killLeader();
      return `${members.nameOf(at === STEADY ? 0 : at)}, and ${members.nameOf((await members.untilLeader()).at)} leads`;
    },
  },
  {
    name: "snapshot read",
    isFault: false,
    run: async (members) => mebibytes(await members.readSnapshot(STEADY)),
  },
  {
    name: "new member",
    isFault: true,
    run: async (members) => {
      const at = await stoppableFollower(members);
      const { ms, snapshots } = await members.replace(at);
      return `${members.nameOf(at)}, ${snapshots} snapshots, ${(ms / MS_PER_SECOND).toFixed(1)} s`;
    },
  },
];

/** Lets the events happen in turn, until the load ends. */
export class Events {
  readonly past: PastEvent[] = [];
  readonly #members: Members;
  readonly #faults: FaultTimes;
  #startMs = 0;

  constructor(members: Members, faults: FaultTimes) {
    this.#members = members;
    this.#faults = faults;
  }

  /** The load begins now. */
  begin(): void {
    this.#startMs = performance.now();
  }

  /**
   * @param everySeconds from the begin of one event to the next one; an event that takes longer delays it.
   * @param untilSeconds no event begins later.
   */
  async run(
    everySeconds: number,
    untilSeconds: number,
    onEvent: (event: PastEvent) => void,
    interrupted: AbortSignal,
  ): Promise<void> {
    for (let turn = 0; ; turn++) {
      const dueSeconds = (turn + 0.5) * everySeconds;
      if (dueSeconds > untilSeconds) {
        return;
      }
      await sleep(Math.max(0, dueSeconds * MS_PER_SECOND - this.#elapsedMs()), undefined, { signal: interrupted });
      const past = await this.#happen(EVENTS[turn % EVENTS.length] as SoakEvent, interrupted);
      this.past.push(past);
      onEvent(past);
    }
  }

  async #happen({ name, isFault, run }: SoakEvent, interrupted: AbortSignal): Promise<PastEvent> {
    const beganMs = this.#elapsedMs();
    const end = isFault ? this.#faults.begin(name) : () => undefined;
    const note = await run(this.#members, interrupted);
    await this.#members.untilAllReady();
    await this.#members.untilLeader();
    end();
    const atSeconds = beganMs / MS_PER_SECOND;
    return { name, atSeconds, seconds: this.#elapsedMs() / MS_PER_SECOND - atSeconds, isFault, note };
  }

  #elapsedMs(): number {
    return performance.now() - this.#startMs;
  }
}

/** The position of a member that may be stopped and does not lead. */
async function stoppableFollower(members: Members): Promise<number> {
  const { at } = await members.untilLeader();
  const followers = members.pids.map((_, other) => other).filter((other) => other !== at && other !== STEADY);
  return followers[Math.floor(Math.random() * followers.length)] as number;
}

function mebibytes(bytes: number): string {
  return `${(bytes / BYTES_PER_MIB).toFixed(1)} MiB`;
}
