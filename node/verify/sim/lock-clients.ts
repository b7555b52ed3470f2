/**
 * Clients of a simulated cluster that use locks: exclusive and read-write locks, or semaphores and exclusive locks whose
 * holds have values. They acquire with and without a wait, renew, change modes, values and the number of permits, release,
 * release by force, write under live and lost holds, and vanish.
 *
 * A waiting client may leave, with all of its calls, and come back with the same request or not at all. It may also
 * send the request again, to another member, while the first call goes on.
 */

import {
  type AcquireLock,
  type Claim,
  type ClientOperation,
  CoordinationError,
  type Guard,
  type Hold,
  type LockMode,
  type LockName,
} from "../../src/state/index.ts";
import type { KnownLife } from "../history/index.ts";
import { isRevocation } from "./access-rules.ts";
import {
  AGAIN_MS,
  AMPLE_MS,
  CALL_MS,
  CALLS_MAX,
  ClientGroup,
  type ClientGroupOptions,
  type ClientOf,
} from "./client-group.ts";
import { endOperation } from "./clients.ts";
import type { KeyHistory } from "./key-history.ts";
import type { LockHistory, OpenLockOperation } from "./lock-history.ts";
import type { LockRules } from "./lock-rules.ts";
import type { LockPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import type { RandomStream } from "./random.ts";
import type { Answer } from "./request-calls.ts";
import type { Request } from "./requests.ts";
import { must } from "./rule-violation.ts";

export interface LockClientsOptions extends ClientGroupOptions {
  readonly history: KeyHistory;
  readonly lockHistory: LockHistory;
  readonly rules: LockRules;
  readonly plan: LockPlan;
  /** The run has no faults, and no member needs a snapshot to catch up. */
  readonly isPrompt: boolean;
}

/** A lock that clients use. */
interface UsedLock extends LockName {
  /** Permits of a semaphore when it is created; 0 = it is none. */
  readonly permits: number;
}

/** A hold, as its holder knows it. */
interface Held {
  readonly lock: UsedLock;
  readonly mode: LockMode;
  /** No change to another mode has ended without an answer. */
  readonly isModeKnown: boolean;
  readonly token: number;
  readonly ttlSeconds: number;
  readonly owner: string;
}

/** A request for a lock without an answer. */
interface Waiting {
  readonly request: Request;
  readonly lock: UsedLock;
  readonly operation: AcquireLock;
  readonly record: OpenLockOperation;
  /** Its open calls. */
  readonly open: Set<WaitingCall>;
  /** The processes that it was sent to, one for each call. */
  readonly processes: Process[];
}

interface WaitingCall {
  readonly process: Process;
  /** Ends it without an answer. */
  leave: () => void;
  /** Since when its process could have answered it, in milliseconds; null = it cannot yet. */
  knownMs: number | null;
}

/** A request that no caller waits for any more. */
interface AbandonedRequest {
  readonly request: Request;
  readonly atMs: number;
}

interface Known {
  waiting: Waiting | null;
  held: Held[];
  /** Acquisitions so far; each has a label of its own. */
  acquisitions: number;
  /** Its former holds, the newest last. */
  former: Held[];
  values: number;
}

/** While it waits for a lock, it is not busy. */
type LockClient = ClientOf<Known>;

/** The deadline that a holder computes: its hold does not expire before that time of the run, in milliseconds. */
export interface HolderDeadline extends KnownLife {
  readonly token: number;
}

const FORMER_MAX = 4;
const PERMITS_MIN = 2;
const PERMITS_MAX = 5;
const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 6_000;
const TTL_SECONDS = [0, 1, 1, 2, 3];
/** Share of the operations before which a client goes to another member. */
const LEAVE_SHARE = 0.1;
/** Mean time that a client stays away, in milliseconds. */
const AWAY_MS = 300;
/** Within this time, a waiter gets what its member knows, and a request without a caller is undone; in milliseconds. */
const ANSWERED_WITHIN_MS = 400;
const UNDONE_MS = 1_500;

export class LockClients extends ClientGroup<Known, LockClientsOptions> {
  readonly #locks: readonly UsedLock[];
  /** Semaphores have clients of their own, and locks with names of their own. */
  readonly #letter: string;
  readonly #holderDeadlines: HolderDeadline[] = [];
  #abandoned: AbandonedRequest[] = [];

  constructor(options: LockClientsOptions) {
    super(options, LEAVE_SHARE);
    const { exclusiveLocks, readWriteLocks, semaphores, ttlSeconds } = options.plan;
    const namespace = "default";
    const name = semaphores === 0 ? "lock" : "election";
    this.#letter = semaphores === 0 ? "l" : "s";
    this.#locks = [
      ...Array.from({ length: exclusiveLocks }, (_, at) => ({
        namespace,
        rw: false,
        name: `${name}-${at}`,
        permits: 0,
      })),
      ...Array.from({ length: readWriteLocks }, (_, at) => ({
        namespace,
        rw: true,
        name: `${name}-${at}`,
        permits: 0,
      })),
      ...Array.from({ length: semaphores }, (_, at) => ({
        namespace,
        rw: false,
        name: `semaphore-${at}`,
        permits: PERMITS_MIN + ((ttlSeconds + at) % (PERMITS_MAX - PERMITS_MIN)),
      })),
    ];
  }

  /** The deadlines that holders have computed from their answers. */
  get holderDeadlines(): readonly HolderDeadline[] {
    return this.#holderDeadlines;
  }

  /** A hold that a client has or had; undefined if there was none. */
  guardOf(random: RandomStream): Guard | undefined {
    const clients = [...this.clients.values()];
    const held = random.pick(clients.flatMap((client) => client.held));
    const former = random.pick(clients.flatMap((client) => client.former));
    const one = random.chance(0.6) ? (held ?? former) : (former ?? held);
    return one === undefined ? undefined : guardBy(one);
  }

  /** Creates the locks, each by a client of its own; each request is repeated until it succeeds. */
  begin(): void {
    const { ttlSeconds, lockDelaySeconds } = this.options.plan;
    for (const [at, lock] of this.#locks.entries()) {
      const client = this.clientOf(-1 - at);
      const { permits, ...named } = lock;
      const operation: ClientOperation =
        permits > 0
          ? { kind: "create-semaphore", namespace: lock.namespace, name: lock.name, permits, ttlSeconds }
          : { kind: "create-lock", ...named, ttlSeconds, lockDelaySeconds };
      this.#attempt(client, operation, () => undefined);
    }
  }

  /** If it waits, it does something about its wait. */
  protected override operate(client: LockClient): void {
    if (client.waiting !== null) {
      this.#disturb(client, client.waiting);
      return;
    }
    const [held] = client.held;
    if (held === undefined) {
      this.#actWithout(client);
    } else {
      this.#actWith(client, client.random.pick(client.held) ?? held);
    }
  }

  /** No operation begins any more. Some waiters leave, the others wait for their answers. */
  override stop(): void {
    super.stop();
    for (const client of this.clients.values()) {
      const { id, waiting } = client;
      if (id % 2 === 0 && waiting !== null) {
        this.#leave(waiting);
        this.#end(client, waiting, null);
      }
    }
  }

  /**
   * A waiter gets what its member knows. In a run without faults in which every member follows, an abandoned request is
   * undone soon. Call it from time to time.
   */
  check(): void {
    const { heap, isPrompt, rules } = this.options;
    for (const { waiting } of this.clients.values()) {
      for (const call of waiting?.open ?? []) {
        this.#checkCall(waiting as Waiting, call);
      }
    }
    for (const { request, atMs } of isPrompt ? this.#abandoned : []) {
      const isUndone = heap.nowMs - atMs < UNDONE_MS || !rules.isLive(request.principal.subject, request.requestId);
      must(isUndone, "S25 a request without a caller is undone soon", () => {
        return `${request.requestId.toHex().slice(0, 8)}, left alone at ${Math.round(atMs)}`;
      });
    }
  }

  #checkCall({ request, processes }: Waiting, call: WaitingCall): void {
    const { heap, rules } = this.options;
    const { memberId, boot, loop, replica } = call.process;
    const index = rules.settledFor(request.principal.subject, request.requestId, memberId, boot);
    // If there were several calls at this member, the ended wait may be that of another one.
    const isSole = processes.filter((process) => process === call.process).length === 1;
    if (index === null || !isSole || replica.status().appliedIndex < index) {
      call.knownMs = null;
      return;
    }
    call.knownMs ??= heap.nowMs;
    const lateMs = Math.min(heap.nowMs - call.knownMs, loop.unhinderedMs);
    must(lateMs <= ANSWERED_WITHIN_MS, "S24 a waiter gets its outcome as soon as its member knows", () => {
      return `m${memberId}: ${request.requestId.toHex().slice(0, 8)}, settled by entry ${index}`;
    });
  }

  protected override fresh(): Known {
    return { waiting: null, held: [], former: [], acquisitions: 0, values: 0 };
  }

  // ---- What a client does ----

  #actWithout(client: LockClient): void {
    const { random, former } = client;
    const share = random.next();
    const lost = random.pick(former);
    if (share < 0.08) {
      this.#force(client, random.pick(this.#locks), lost);
    } else if (share < 0.13 && this.#hasClaims) {
      this.#update(client, random.pick(this.#locks));
    } else if (share < 0.3 && lost !== undefined) {
      this.#useLost(client, lost);
    } else {
      this.#acquire(client);
    }
  }

  #actWith(client: LockClient, held: Held): void {
    const share = client.random.next();
    if (share < 0.3) {
      this.#write(client, held);
    } else if (share < 0.42) {
      this.#change(client, held, held.mode);
    } else if (share < 0.54 && held.lock.rw) {
      this.#change(client, held, held.mode === "read" ? "write" : "read");
    } else if (share < 0.54 && this.#hasClaims) {
      this.#setValue(client, held);
    } else if (share < 0.6) {
      // A client that requests the same lock again waits for itself (S27).
      this.#acquire(client);
    } else if (share < 0.67) {
      // It vanishes: the hold goes on until it expires.
      this.#lose(client, held);
    } else if (share < 0.7) {
      this.#force(client, held.lock, held);
    } else {
      this.#release(client, held, client.random.chance(0.7) ? held.token : 0);
    }
  }

  /** Uses a former hold as if it were live: that must have no effect, unless the hold is live after all. */
  #useLost(client: LockClient, lost: Held): void {
    const share = client.random.next();
    if (share < 0.6) {
      this.#write(client, lost);
    } else if (share < 0.8) {
      this.#release(client, lost, lost.token);
    } else {
      this.#change(client, lost, lost.mode);
    }
  }

  /** Whether its locks have permits or values. */
  get #hasClaims(): boolean {
    return this.options.plan.semaphores > 0;
  }

  /** Changes the number of permits, sometimes below what is held. */
  #update(client: LockClient, lock: UsedLock | undefined): void {
    if (lock !== undefined && lock.permits > 0) {
      const { namespace, name } = lock;
      const permits = client.random.whole(1, PERMITS_MAX);
      this.#attempt(client, { kind: "update-semaphore", namespace, name, permits }, () => undefined);
    }
  }

  /** Changes the value of a hold, also of one that may have ended. Holds of semaphores have none, so this is refused. */
  #setValue(client: LockClient, { lock, token, owner }: Held): void {
    const { namespace, name } = lock;
    client.values++;
    const isOwnerNamed = client.random.chance(0.5);
    const operation: ClientOperation = {
      kind: "set-lock-value",
      namespace,
      name,
      fencingToken: token,
      owner: isOwnerNamed ? owner : "",
      value: Buffer.from(client.random.chance(0.2) ? "" : `${this.#letter}${client.id}.${client.values}`),
    };
    if (lock.permits > 0) {
      this.#attempt(client, operation, () => undefined);
    } else {
      this.#attemptWith(client, lock, token, operation, () => undefined);
    }
  }

  #acquire(client: LockClient): void {
    const { random, id } = client;
    const lock = random.pick(this.#locks);
    const process = this.processFor(client);
    if (lock === undefined || process === null) {
      return;
    }
    client.acquisitions++;
    const owner = `${this.#letter}${id}.${client.acquisitions}`;
    const readMode = !this.#hasClaims && random.chance(this.options.plan.readShare) ? "read" : "write";
    const operation: AcquireLock = {
      kind: "acquire-lock",
      namespace: lock.namespace,
      name: lock.name,
      ...this.#claimOf(client, lock, readMode),
      ttlSeconds: random.pick(TTL_SECONDS) ?? 0,
      owner,
      fencingToken: 0,
      waitMs: random.chance(0.3) ? 0 : Math.floor(random.between(WAIT_MS_MIN, WAIT_MS_MAX)),
    };
    const request = this.requestCalls.begin(operation, client.principal);
    const record = this.options.lockHistory.begin(`${this.#letter}${id}`, lock, 0, operation);
    client.waiting = { request, lock, operation, record, open: new Set(), processes: [] };
    this.#ask(client, client.waiting, process);
  }

  #claimOf({ random, id, acquisitions }: LockClient, lock: UsedLock, readMode: "read" | "write"): Claim {
    if (lock.rw) {
      return { mode: readMode };
    }
    if (lock.permits > 0) {
      // Sometimes more than there are.
      return { mode: "permits", permits: random.whole(1, random.chance(0.1) ? PERMITS_MAX : PERMITS_MIN + 1) };
    }
    const isShowing = this.#hasClaims && random.chance(0.8);
    return { mode: "exclusive", ...(isShowing && { value: Buffer.from(`${id}.${acquisitions}`) }) };
  }

  /** Renews the hold in this mode. The TTL is never made shorter, so that the holder may rely on it. */
  #change(client: LockClient, held: Held, mode: LockMode): void {
    const { lock, token, ttlSeconds, owner } = held;
    const { namespace, name } = lock;
    const isOwnerNamed = client.random.chance(0.5);
    const operation: AcquireLock = {
      kind: "acquire-lock",
      namespace,
      name,
      mode,
      ttlSeconds,
      owner: isOwnerNamed ? owner : "",
      waitMs: 0,
      fencingToken: token,
    };
    this.#attemptWith(client, lock, token, operation, (answer, sentMs) => {
      const result = answer?.outcome?.answer;
      const hold = this.#noteGrant(answer, sentMs);
      if (hold !== null) {
        if (hold.token === token) {
          this.#drop(client, token);
        } else {
          // It was upgraded: the former token is invalid.
          this.#lose(client, held);
        }
        client.held.push({ ...held, mode, isModeKnown: held.isModeKnown || hold.token !== token, token: hold.token });
      } else if (result === undefined) {
        this.#doubtMode(client, token);
      } else if (result instanceof CoordinationError && result.reason !== "UPGRADE_WOULD_DEADLOCK") {
        this.#drop(client, token);
      }
    });
  }

  #release(client: LockClient, held: Held, fencingToken: number): void {
    const { lock, mode, isModeKnown, owner, token } = held;
    const isModeNamed = lock.rw && client.random.chance(0.5) && isModeKnown;
    const isOwnerNamed = fencingToken === 0 || client.random.chance(0.5);
    const { permits: _permits, ...named } = lock;
    const operation: ClientOperation = {
      kind: "release-lock",
      ...named,
      mode: isModeNamed ? mode : null,
      owner: isOwnerNamed ? owner : "",
      fencingToken,
    };
    this.#lose(client, held);
    this.#attemptWith(client, lock, token, operation, () => undefined);
  }

  #force(client: LockClient, lock: UsedLock | undefined, held: Held | undefined): void {
    if (lock !== undefined) {
      const { permits: _permits, ...named } = lock;
      const fencingToken = held !== undefined && client.random.chance(0.5) ? held.token : 0;
      const operation: ClientOperation = { kind: "force-release-lock", ...named, fencingToken, reason: "" };
      this.#attemptWith(client, lock, fencingToken, operation, () => undefined);
    }
  }

  /** Writes something that takes effect only while the hold is live. */
  #write(client: LockClient, held: Held): void {
    const { lock, token } = held;
    const { history, plan } = this.options;
    const { random, id } = client;
    const guard = guardBy(held);
    const key = Buffer.from(`${this.#hasClaims ? "claimed" : "guarded"}-${random.below(plan.keys)}`);
    const shared = { namespace: "default", key, expectedModRevision: undefined, guard };
    client.values++;
    const value = Buffer.from(`${this.#letter}${id}.${client.values}`);
    const share = random.next();
    let operation: ClientOperation = { ...shared, kind: "put-key", value, ttlSeconds: 0, returnPrevious: false };
    if (share < 0.2) {
      operation = { ...shared, kind: "delete-key", returnPrevious: false };
    } else if (share < 0.4) {
      operation = { ...shared, kind: "compare-and-swap", expectedValue: undefined, newValue: value, ttlSeconds: 0 };
    }
    const open = history.begin(`${this.#letter}${id}`, operation);
    this.#attemptWith(client, lock, token, operation, (_answer, _sentMs, request) => endOperation(open, request));
  }

  #drop(client: LockClient, token: number): void {
    client.held = client.held.filter((one) => one.token !== token);
  }

  /**
   * The hold may have another mode than its holder believes. A request with the wrong mode is refused, although the
   * hold goes on.
   */
  #doubtMode(client: LockClient, token: number): void {
    const doubted = (held: Held): Held => (held.token === token ? { ...held, isModeKnown: false } : held);
    client.held = client.held.map(doubted);
    client.former = client.former.map(doubted);
  }

  #lose(client: LockClient, held: Held): void {
    this.#drop(client, held.token);
    client.former = [...client.former, held].slice(-FORMER_MAX);
  }

  // ---- Waiting for a lock ----

  /** Sends the request for a lock, perhaps again. */
  #ask(client: LockClient, waiting: Waiting, process: Process): void {
    const { heap } = this.options;
    waiting.processes.push(process);
    this.#abandoned = this.#abandoned.filter(({ request }) => request !== waiting.request);
    const sentMs = heap.nowMs;
    const limitMs = this.#limitMs(client, waiting.operation.waitMs);
    const call: WaitingCall = { process, leave: () => undefined, knownMs: null };
    waiting.open.add(call);
    call.leave = this.requestCalls.send(process, waiting.request, limitMs, (answer) => {
      waiting.open.delete(call);
      this.#onAnswer(client, waiting, answer, sentMs);
    });
  }

  #onAnswer(client: LockClient, waiting: Waiting, answer: Answer | null, sentMs: number): void {
    const { request, lock, operation } = waiting;
    const result = answer?.outcome?.answer;
    const hold = this.#noteGrant(answer, sentMs);
    if (hold !== null) {
      this.options.rules.onAnsweredHold(request.principal.subject, request.requestId, hold.token);
    }
    if (client.waiting !== waiting) {
      return;
    }
    const isUnknown = result instanceof CoordinationError && (result.outcome === "unknown" || isRevocation(result));
    const isKnown = result !== undefined && !isUnknown;
    if (isKnown) {
      this.#end(client, waiting, answer);
      if (hold !== null) {
        const { mode, token, owner } = hold;
        client.held.push({ lock, mode, isModeKnown: true, token, ttlSeconds: operation.ttlSeconds, owner });
      }
    } else if (waiting.open.size === 0) {
      client.home = null;
      if (this.isStopped || this.isOld(request) || waiting.processes.length >= CALLS_MAX || client.random.chance(0.2)) {
        this.#end(client, waiting, null);
      } else {
        this.#resume(client, waiting, AGAIN_MS);
      }
    }
  }

  /** The waiter leaves, or calls another member as well, or goes on waiting. */
  #disturb(client: LockClient, waiting: Waiting): void {
    const { random } = client;
    const share = random.next();
    const isOld = this.isOld(waiting.request);
    if (waiting.open.size > 0 && share < 0.35) {
      this.#leave(waiting);
      if (random.chance(0.5) && !isOld) {
        this.#resume(client, waiting, AWAY_MS);
      } else {
        this.#end(client, waiting, null);
      }
    } else if (waiting.open.size > 0 && share < 0.65 && !isOld && waiting.processes.length < CALLS_MAX) {
      const process = random.pick(this.options.processes());
      if (process !== undefined) {
        this.#ask(client, waiting, process);
      }
    }
  }

  #leave(waiting: Waiting): void {
    const { open, request } = waiting;
    for (const { leave } of open) {
      leave();
    }
    open.clear();
    this.#abandoned.push({ request, atMs: this.options.heap.nowMs });
  }

  /** Sends the same request again after a while. */
  #resume(client: LockClient, waiting: Waiting, meanMs: number): void {
    const { heap } = this.options;
    heap.after(client.random.exponential(meanMs), () => {
      if (client.waiting !== waiting || waiting.open.size > 0) {
        return;
      }
      const process = this.isStopped ? null : this.processFor(client);
      if (process === null) {
        this.#end(client, waiting, null);
      } else {
        this.#ask(client, waiting, process);
      }
    });
  }

  /** It waits no more, and never learns what becomes of the request. */
  #end(client: LockClient, { record, request, processes }: Waiting, answer: Answer | null): void {
    client.waiting = null;
    record.end(request, answer?.outcome ?? null, processes.length);
  }

  /** The hold in the answer, if any. Its holder computes its deadline from the answer (S23). */
  #noteGrant(answer: Answer | null, sentMs: number): Hold | null {
    const result = answer?.outcome?.answer;
    if (result === undefined || !("kind" in result) || result.kind !== "acquire-lock" || result.hold === null) {
      return null;
    }
    const { hold, tickMs, waitedMs } = result;
    this.#holderDeadlines.push({ token: hold.token, sentMs, lifeMs: waitedMs + hold.deadlineMs - tickMs });
    return hold;
  }

  // ---- Everything else ----

  /** Like `#attempt`, for a request about the lock and its hold with the token; 0 = none in particular. */
  #attemptWith(
    client: LockClient,
    lock: LockName,
    token: number,
    operation: ClientOperation,
    onEnd: (answer: Answer | null, sentMs: number, request: Request) => void,
  ): void {
    const open = this.options.lockHistory.begin(`${this.#letter}${client.id}`, lock, token, operation);
    this.#attempt(client, operation, (answer, sentMs, request, calls) => {
      open.end(request, answer?.outcome ?? null, calls);
      onEnd(answer, sentMs, request);
    });
  }

  /** Sends a request, again if its outcome is unknown. `onEnd` gets the last answer and the time of its call. */
  #attempt(
    client: LockClient,
    operation: ClientOperation,
    onEnd: (answer: Answer | null, sentMs: number, request: Request, calls: number) => void,
  ): void {
    const process = this.processFor(client);
    const request = this.requestCalls.begin(operation, client.principal);
    if (process === null) {
      onEnd(null, 0, request, 0);
      return;
    }
    client.isBusy = true;
    this.#send(client, process, request, 1, (answer, sentMs, calls) => {
      client.isBusy = false;
      onEnd(answer, sentMs, request, calls);
    });
  }

  #send(
    client: LockClient,
    process: Process,
    request: Request,
    calls: number,
    onEnd: (answer: Answer | null, sentMs: number, calls: number) => void,
  ): void {
    const { heap } = this.options;
    const sentMs = heap.nowMs;
    this.requestCalls.send(process, request, this.#limitMs(client, 0), (answer) => {
      const isDone = answer?.outcome != null;
      // A client that creates a lock goes on until the lock exists.
      const isUnknown =
        answer === null || answer.error?.outcome === "unknown" || request.operation.kind.startsWith("create-");
      if (isDone || !isUnknown || this.isOld(request) || calls >= CALLS_MAX || this.isStopped) {
        onEnd(answer, sentMs, calls);
        return;
      }
      client.home = null;
      heap.after(client.random.exponential(AGAIN_MS), () => {
        const next = this.processFor(client);
        if (next === null) {
          onEnd(null, sentMs, calls);
        } else {
          this.#send(client, next, request, calls + 1, onEnd);
        }
      });
    });
  }

  /** Mostly longer than the wait, so that the wait ends first. */
  #limitMs({ random }: LockClient, waitMs: number): number {
    if (this.options.isSteady) {
      return waitMs + AMPLE_MS;
    }
    const callMs = random.pick(CALL_MS) ?? AMPLE_MS;
    return random.chance(0.75) ? waitMs + callMs : callMs;
  }
}

function guardBy({ lock, token }: Held): Guard {
  return { lockName: lock.name, fencingToken: token, rw: lock.rw };
}
