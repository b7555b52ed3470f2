/**
 * Calls that wait to be handed out, and the turns in which they are: one of each principal after the other.
 *
 * The cluster has one log, so what one principal has put into it stands before whatever others send. Therefore the
 * work of commands that a member has handed out, and whose outcomes are open, is bounded. A principal may have as much
 * of it as is left for the others: one alone has half of the bound. A command of any size may be the only one.
 */

import { LinkedQueue, Links } from "../../collections/index.ts";
import type { Proposal } from "../context/index.ts";

/** What this part knows of a call. */
export interface HeldCall<Call> {
  readonly proposal: Proposal;
  /** `held` = it waits to be handed out. A call may end at any time, and stays in its place until it is looked at. */
  readonly state: string;
  /** The earliest time at which it may be handed out; null = at once. */
  readonly notBeforeMs: number | null;
  /** The lane of its principal, and its place there; only this file changes these. */
  readonly lane: Lane<Call>;
  next: Call | null;
  /** Whether its work counts as handed out without an outcome; only this file changes this. */
  isOpen: boolean;
}

/** The calls of one principal at this member. */
export class Lane<Call> {
  readonly links = new Links<Lane<Call>>();
  /** The call that waits for longest; null = none waits. The others follow by `next`. */
  first: Call | null = null;
  last: Call | null = null;
  /** Work of its commands that are handed out, without an outcome. */
  openWork = 0;
  /** Number of its calls that have not ended. */
  calls = 0;
}

/** Number of lanes to keep, even if they have no calls: a principal that has sent a call will probably send another. */
const LANES_MIN = 1_000;

export class HeldCalls<Call extends HeldCall<Call>> {
  readonly #openWorkMax: number;
  readonly #onRoom: () => void;
  readonly #lanes = new Map<string, Lane<Call>>();
  #lanesMax = LANES_MIN;
  /** Lanes with calls that wait, in the order of their turns, and their number. */
  readonly #turns = new LinkedQueue<Lane<Call>>();
  #turnCount = 0;
  /** Calls that wait until a time of their own. */
  #resting: Call[] = [];
  #openWork = 0;

  /**
   * @param openWorkMax bound of the work that is handed out, without an outcome.
   * @param onRoom is called when it is less, while calls wait.
   */
  constructor(openWorkMax: number, onRoom: () => void) {
    this.#openWorkMax = openWorkMax;
    this.#onRoom = onRoom;
  }

  /** Finds the lane for one more call of a principal. The call must leave it once. */
  enter(subject: string): Lane<Call> {
    let lane = this.#lanes.get(subject);
    if (lane === undefined) {
      if (this.#lanes.size >= this.#lanesMax) {
        this.#forgetLanes();
      }
      lane = new Lane<Call>();
      this.#lanes.set(subject, lane);
    }
    lane.calls++;
    return lane;
  }

  /** Adds a call behind the others of its principal. */
  add(call: Call): void {
    const { lane } = call;
    call.next = null;
    if (lane.last === null) {
      lane.first = call;
      this.#join(lane);
    } else {
      lane.last.next = call;
    }
    lane.last = call;
  }

  /** Whether the command of a call that waits may be handed out now. */
  hasRoom({ lane, proposal }: Call): boolean {
    return this.#openWork === 0 || lane.openWork + proposal.work < this.#openWorkMax - this.#openWork;
  }

  /**
   * Takes calls that are to be handed out now, and counts their work as open.
   *
   * @param max number of calls.
   */
  take(nowMs: number, max: number): Call[] {
    if (this.#resting.length > 0) {
      for (const call of this.#resting.splice(0)) {
        this.add(call);
      }
    }
    const batch: Call[] = [];
    let passed = 0;
    for (let lane = this.#turns.first; lane !== null && batch.length < max; lane = this.#turns.first) {
      const call = this.#firstReady(lane, nowMs);
      if (call === null) {
        this.#quit(lane);
      } else if (this.hasRoom(call)) {
        this.#shift(lane);
        this.#open(call);
        batch.push(call);
        if (lane.first === null) {
          this.#quit(lane);
        } else {
          this.#giveTurn(lane);
        }
        passed = 0;
      } else if (lane.openWork > 0 && passed < this.#turnCount) {
        passed++;
        this.#giveTurn(lane);
      } else {
        // No other passes a lane that has nothing in the log. So a large command gets its room.
        break;
      }
    }
    return batch;
  }

  /** Puts back, at their old places, those of a batch that were not handed out and still wait. */
  putBack(batch: readonly Call[]): void {
    for (let at = batch.length - 1; at >= 0; at--) {
      const call = batch[at] as Call;
      if (isHeld(call)) {
        const { lane } = call;
        this.close(call);
        call.next = lane.first;
        lane.first = call;
        if (lane.last === null) {
          lane.last = call;
          this.#join(lane);
        }
      }
    }
  }

  /** The outcome of a command is known, or does not count any more. Does nothing if it does not count now. */
  close(call: Pick<HeldCall<Call>, "isOpen" | "lane" | "proposal">): void {
    if (call.isOpen) {
      call.isOpen = false;
      const { work } = call.proposal;
      call.lane.openWork -= work;
      this.#openWork -= work;
      if (this.#turnCount > 0) {
        this.#onRoom();
      }
    }
  }

  /** Forgets calls that have ended while they waited. */
  forgetEnded(): void {
    this.#resting = this.#resting.filter(isHeld);
    for (let lane = this.#turns.first; lane !== null; ) {
      const { next } = lane.links;
      let last: Call | null = null;
      for (let call = lane.first; call !== null; call = call.next) {
        if (isHeld(call)) {
          last = call;
        } else if (last === null) {
          lane.first = call.next;
        } else {
          last.next = call.next;
        }
      }
      lane.last = last;
      if (last === null) {
        this.#quit(lane);
      }
      lane = next;
    }
  }

  /** The first call of the lane that still waits, and may be handed out at this time. Later ones rest on their own. */
  #firstReady(lane: Lane<Call>, nowMs: number): Call | null {
    for (let call = lane.first; call !== null; call = lane.first) {
      if (isHeld(call)) {
        if (call.notBeforeMs === null || call.notBeforeMs <= nowMs) {
          return call;
        }
        this.#resting.push(call);
      }
      this.#shift(lane);
    }
    return null;
  }

  #shift(lane: Lane<Call>): void {
    const call = lane.first as Call;
    lane.first = call.next;
    call.next = null;
    if (lane.first === null) {
      lane.last = null;
    }
  }

  #open(call: Call): void {
    const { work } = call.proposal;
    call.isOpen = true;
    call.lane.openWork += work;
    this.#openWork += work;
  }

  #join(lane: Lane<Call>): void {
    this.#turns.push(lane);
    this.#turnCount++;
  }

  #quit(lane: Lane<Call>): void {
    this.#turns.remove(lane);
    this.#turnCount--;
  }

  /** The lane has had its turn. */
  #giveTurn(lane: Lane<Call>): void {
    this.#turns.remove(lane);
    this.#turns.push(lane);
  }

  #forgetLanes(): void {
    for (const [subject, lane] of this.#lanes) {
      if (lane.calls === 0) {
        this.#lanes.delete(subject);
      }
    }
    // Twice the number in use, so that the search is rare.
    this.#lanesMax = Math.max(LANES_MIN, 2 * this.#lanes.size);
  }
}

function isHeld({ state }: { readonly state: string }): boolean {
  return state === "held";
}
