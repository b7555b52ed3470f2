/**
 * Changes the membership of a simulated cluster. An administrator adds members, whose processes request their slots,
 * and promotes them. It removes, replaces and demotes others, and transfers the leadership: one change after the other,
 * at any member.
 */

import { claimedMembers, type MemberList, type MembershipView } from "../../src/replica/index.ts";
import type { ClaimSlotResult, CoordinationError, MembershipOperation, Outcome } from "../../src/state/index.ts";
import type { Calls } from "./calls.ts";
import { clusterOf } from "./cluster-record.ts";
import type { EventHeap } from "./event-heap.ts";
import type { Member } from "./member.ts";
import type { ChangeKind } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface AdministratorOptions {
  readonly heap: EventHeap;
  /** Prefix of the names of its members; no other administrator uses it. */
  readonly prefix: string;
  /** Draws what the script does not decide. */
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly calls: Calls;
  readonly processes: () => readonly Process[];
  /** Members that were created so far, and the limit. */
  readonly created: () => number;
  readonly createdMax: number;
  /** A member was removed and is not needed any more: its machine and its disk are given back. */
  readonly destroy: (id: number) => void;
  /** A process got a slot: it becomes a member. */
  readonly join: (id: number, name: string, incarnation: Uint8Array, told: MemberList) => void;
}

type End = (isDone: boolean) => void;
interface Answer {
  readonly error: CoordinationError | null;
  readonly outcome: Outcome | null;
}
/** A process without data that requests the slot of its name. */
interface Joiner {
  readonly name: string;
  readonly incarnation: Uint8Array;
  attempts: number;
}

const CALL_MS = 5_000;
const ATTEMPTS_MAX = 12;
const PAUSE_MS = 300;
/** The share of promotions without a check first, and of removals that may hit the leader. */
const IMPATIENT_SHARE = 0.25;
const ANYBODY_SHARE = 0.15;
/** The share of removals after which the members' data is destroyed as soon as the answer is there. */
const DESTROYED_SHARE = 0.6;

export class Administrator {
  readonly #options: AdministratorOptions;
  /** The stream of the present change. */
  #random: RandomStream;
  #names = 1;
  #done = 0;
  #isStopped = false;

  constructor(options: AdministratorOptions) {
    this.#options = options;
    this.#random = options.random;
  }

  /** Changes that were carried out. */
  get done(): number {
    return this.#done;
  }

  /** Stops all retries. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Makes one change, whatever its outcome; `draw` decides the details. */
  change(kind: ChangeKind, draw: number, onEnd: End): void {
    this.#random = streamOf(draw);
    const end: End = (isDone) => {
      this.#done += isDone ? 1 : 0;
      onEnd(isDone);
    };
    this.#options.trace.record(0, "changes", [], () => kind);
    switch (kind) {
      case "add":
        this.add(end);
        return;
      case "replace":
        this.#replace(end);
        return;
      case "remove":
        this.#remove("remove", end);
        return;
      case "demote":
        this.#remove("demote", end);
        return;
      case "transfer":
        this.#transfer(end);
        return;
      case "grow":
        this.#grow(end);
        return;
      case "shrink":
        this.#remove("remove", end, 2);
        return;
    }
  }

  /** Adds a member and promotes it. */
  add(onEnd: End): void {
    this.#joinAndVote(this.#newName(), onEnd);
  }

  #joinAndVote(name: string, onEnd: End): void {
    this.#join(name, (id) => {
      if (id === null) {
        onEnd(false);
      } else {
        this.#promote([id], [], ATTEMPTS_MAX, onEnd);
      }
    });
  }

  #newName(): string {
    this.#names++;
    return `${this.#options.prefix}member-${this.#names}`;
  }

  /** Adds two members and promotes them in one joint change; only one if the other did not join. */
  #grow(onEnd: End): void {
    this.#join(this.#newName(), (first) => {
      this.#join(this.#newName(), (second) => {
        const joined = [first, second].filter((id) => id !== null);
        if (joined.length === 0) {
          onEnd(false);
        } else {
          this.#promote(joined, [], ATTEMPTS_MAX, onEnd);
        }
      });
    });
  }

  /**
   * The directory of the member is lost. Its process does not know that it has a slot, and requests the slot of its
   * name. It uses a new incarnation or, if that was kept elsewhere, the former one. Then the member is removed.
   */
  expel({ id, name, incarnation: former }: Pick<Member, "id" | "name" | "incarnation">, onEnd: End): void {
    this.#random = this.#options.random;
    const incarnation = this.#random.chance(0.5) ? former : this.#random.bytes(former.length);
    this.#claim({ name, incarnation, attempts: ATTEMPTS_MAX }, () => {
      const none: number[] = [];
      this.#propose({ kind: "reconfigure", promote: none, demote: none, remove: [id] }, (answer) => {
        onEnd(isMembershipDone(answer));
      });
    });
  }

  /** A new member with this free name joins and votes. */
  rejoin(name: string, onEnd: End): void {
    this.#random = this.#options.random;
    this.#joinAndVote(name, onEnd);
  }

  /** A new member takes the place of another one, in one joint change. */
  #replace(onEnd: End): void {
    this.#join(this.#newName(), (id) => {
      if (id === null) {
        onEnd(false);
        return;
      }
      this.#view((view) => {
        const voters = view === null ? [] : this.#voters().filter((voter) => voter !== view.leaderId && voter !== id);
        const victim = this.#random.pick(voters);
        this.#promote([id], victim === undefined ? [] : [victim], ATTEMPTS_MAX, onEnd);
      });
    });
  }

  /** Any voters, but hardly ever the leader, which refuses its own removal while it leads. */
  #remove(how: "remove" | "demote", onEnd: End, count = 1): void {
    this.#view((view) => {
      const random = this.#random;
      const isAnybody = random.chance(ANYBODY_SHARE);
      const voters = this.#voters().filter((id) => isAnybody || id !== view?.leaderId);
      const victims = new Set<number>();
      for (let left = Math.min(count, voters.length); left > 0; left--) {
        const victim = random.pick(voters.filter((id) => !victims.has(id)));
        if (victim !== undefined) {
          victims.add(victim);
        }
      }
      if (view === null || victims.size === 0) {
        onEnd(false);
        return;
      }
      const none: number[] = [];
      const change = how === "remove" ? { demote: none, remove: [...victims] } : { demote: [...victims], remove: none };
      const isDestroyed = random.chance(DESTROYED_SHARE);
      this.#propose({ kind: "reconfigure", promote: none, ...change }, (answer) => {
        const isDone = isMembershipDone(answer);
        for (const id of isDone && isDestroyed ? change.remove : none) {
          this.#options.destroy(id);
        }
        onEnd(isDone);
      });
    });
  }

  #transfer(onEnd: End): void {
    const { calls } = this.#options;
    const random = this.#random;
    const process = random.pick(this.#options.processes());
    if (process === undefined) {
      onEnd(false);
      return;
    }
    const target = random.chance(0.5) ? 0 : (random.pick(this.#voters()) ?? 0);
    calls.call<CoordinationError | "done">(
      process,
      `transfer to ${target}`,
      CALL_MS,
      (deadlineMs, done) => process.replica.transferLeadership(target, 0, deadlineMs, (error) => done(error ?? "done")),
      (error) => onEnd(error === "done"),
    );
  }

  /** The voters, as some member knows them. */
  #voters(): readonly number[] {
    const process = this.#random.pick(this.#options.processes());
    return process === undefined ? [] : (clusterOf(process.replica.state)?.configuration.voters ?? []);
  }

  #join(name: string, onEnd: (id: number | null) => void): void {
    const { created, createdMax } = this.#options;
    const random = this.#random;
    if (created() >= createdMax) {
      onEnd(null);
      return;
    }
    this.#propose({ kind: "add-slot", name }, (answer) => {
      if (answer !== null && answer.error?.outcome === "not-executed") {
        onEnd(null);
        return;
      }
      // The slot may exist even without an answer about it.
      const joiner: Joiner = { name, incarnation: random.bytes(16), attempts: 0 };
      if (random.chance(0.15)) {
        this.#claim({ name, incarnation: random.bytes(16), attempts: 0 }, () => undefined);
      }
      this.#claim(joiner, onEnd);
    });
  }

  #claim(joiner: Joiner, onEnd: (id: number | null) => void): void {
    const { calls, heap } = this.#options;
    const random = this.#random;
    const { name, incarnation } = joiner;
    const process = random.pick(this.#options.processes());
    const again = (): void => {
      joiner.attempts++;
      if (joiner.attempts > ATTEMPTS_MAX || this.#isStopped) {
        onEnd(null);
      } else {
        heap.after(random.exponential(PAUSE_MS), () => this.#claim(joiner, onEnd));
      }
    };
    if (process === undefined) {
      again();
      return;
    }
    const endpoint = `${incarnation.toHex().slice(0, 8)}.sim:1`;
    const address = { peerEndpoint: endpoint, grpcEndpoint: endpoint, httpEndpoint: endpoint };
    let told: MemberList | null = null;
    calls.call<Answer>(
      process,
      `claim ${name}`,
      CALL_MS,
      (deadlineMs, done) => {
        const operation = { kind: "claim-slot", name, incarnation, address } as const;
        process.replica.proposeClusterOperation(operation, deadlineMs, (error, outcome) => {
          told = {
            members: claimedMembers(clusterOf(process.replica.state)),
            index: process.replica.status().appliedIndex,
          };
          done({ error, outcome });
        });
      },
      (answer) => {
        const claim = answer?.outcome?.answer as ClaimSlotResult | CoordinationError | undefined;
        if (claim === undefined || !("verdict" in claim) || claim.verdict === "no-slot" || told === null) {
          again();
        } else if (claim.verdict === "slot-taken") {
          onEnd(null);
        } else {
          this.#options.join(claim.memberId, name, incarnation, told);
          onEnd(claim.memberId);
        }
      },
    );
  }

  /**
   * Promotes learners as soon as they have caught up. Or it requests that at once, and the leader refuses if they lag.
   */
  #promote(ids: readonly number[], remove: readonly number[], attempts: number, onEnd: End): void {
    const { heap } = this.#options;
    const again = (): void => {
      if (attempts === 0 || this.#isStopped) {
        onEnd(false);
      } else {
        heap.after(PAUSE_MS, () => this.#promote(ids, remove, attempts - 1, onEnd));
      }
    };
    this.#view((view) => {
      const isReady = ids.every((id) => view?.health.find((one) => one.id === id)?.promotable === true);
      if (!isReady && !this.#random.chance(IMPATIENT_SHARE)) {
        again();
        return;
      }
      this.#propose({ kind: "reconfigure", promote: ids, demote: [], remove }, (answer) => {
        if (isMembershipDone(answer)) {
          onEnd(true);
        } else {
          again();
        }
      });
    });
  }

  #view(onEnd: (view: MembershipView | null) => void): void {
    const { calls } = this.#options;
    const random = this.#random;
    const process = random.pick(this.#options.processes());
    if (process === undefined) {
      onEnd(null);
      return;
    }
    calls.call<{ readonly view: MembershipView | null }>(
      process,
      "membership",
      CALL_MS,
      (deadlineMs, done) => process.replica.membershipView(deadlineMs, (_error, view) => done({ view })),
      (answer) => onEnd(answer?.view ?? null),
    );
  }

  #propose(operation: MembershipOperation, onEnd: (answer: Answer | null) => void): void {
    const { calls, trace } = this.#options;
    const random = this.#random;
    const process = random.pick(this.#options.processes());
    if (process === undefined) {
      onEnd(null);
      return;
    }
    const request = random.chance(0.5) ? { requestId: random.bytes(16), payloadHash: random.bytes(32) } : null;
    const entry = { subject: "administrator", request, expectIndex: 0, operation };
    calls.call<Answer>(
      process,
      `change ${JSON.stringify(operation)}`,
      CALL_MS,
      (deadlineMs, done) => {
        process.replica.proposeMembership(entry, deadlineMs, (error, outcome) => done({ error, outcome }));
      },
      (answer) => {
        trace.record(process.memberId, "has changed", [Number(answer?.outcome != null)], () => {
          const { error, outcome } = answer ?? { error: null, outcome: null };
          return `${JSON.stringify(operation)}: ${error?.reason ?? JSON.stringify(outcome?.answer ?? "lost")}`;
        });
        onEnd(answer);
      },
    );
  }
}

/** Whether a change of the membership was carried out, and not refused when it was applied. */
function isMembershipDone(answer: Answer | null): boolean {
  return answer?.outcome != null && "kind" in answer.outcome.answer;
}
