/**
 * A naive model of locks: arrays that are searched from the beginning, and nothing stored. Specs compare the replicated
 * state machine with it. Answers are words, so that they can be compared.
 */

import type { AcquireLock, Claim, HoldReason, LockChange, LockMode, LockName } from "../src/state/index.ts";

/** The inputs of the model's decisions, in the units of the state's limits and of a lock. */
export interface LockModelLimits {
  readonly replayWindowMs: number;
  readonly lockWaitsMax: number;
  readonly lockReadersMax: number;
  /** The delay of every lock but semaphores, which have none. */
  readonly lockDelaySeconds: number;
  readonly ttlSeconds: number;
}

export interface ModelHold {
  readonly token: number;
  readonly permits?: number;
  value?: Uint8Array;
  readonly owner: string;
  readonly subject: string;
  mode: LockMode;
  ttlSeconds: number;
  deadlineMs: number;
  /** The request whose hold it is. */
  readonly request: ModelRequest;
}

interface ModelWait {
  readonly request: ModelRequest;
  askedMs: number;
  deadlineMs: number;
}

/** An acquiring request, with all of its attempts. */
export interface ModelRequest {
  readonly id: number;
  readonly subject: string;
  readonly operation: AcquireLock;
  status: "queued" | "granted" | "not-acquired" | "cancelled" | "refused" | "new";
  reason: string;
  token: number;
  attempt: number;
  /** Start of the window of its answer; infinity while it waits or holds. */
  sinceMs: number;
}

/** A change of a hold, and its revision. */
export interface ModelEvent extends LockChange {
  readonly revision: number;
}

export interface ModelLock {
  readonly name: LockName;
  /** 0 = it is no semaphore. */
  permits: number;
  holds: ModelHold[];
  queue: ModelWait[];
  delayUntilMs: number;
}

/** Thrown when a client's call is refused. */
export class Refused extends Error {}

export class LockModel {
  readonly locks = new Map<string, ModelLock>();
  readonly disabled = new Set<string>();
  /** Attempts that later operations have answered, as text. */
  readonly settled: string[] = [];
  /** The changes that watchers must get, in order. */
  readonly events: ModelEvent[] = [];
  revision = 1;
  tickMs = 1_000;
  readonly #limits: LockModelLimits;

  constructor(limits: LockModelLimits) {
    this.#limits = limits;
  }

  /** @param isSemaphore undefined = any */
  lockOf(name: LockName, isSemaphore?: boolean): ModelLock {
    const found = this.locks.get(lockKey(name));
    if (found === undefined || (isSemaphore !== undefined && found.permits > 0 !== isSemaphore)) {
      throw new Refused("LOCK_NOT_FOUND");
    }
    return found;
  }

  stateOf({ name, holds, delayUntilMs }: ModelLock): string {
    const [first] = holds;
    if (first !== undefined) {
      return name.rw ? `${first.mode}-held` : "held";
    }
    return delayUntilMs === 0 ? "free" : "cooldown";
  }

  describe(found: ModelLock, hold: ModelHold | undefined, waitedMs: number): string {
    const holds = found.holds.map((one) => `${one.token} ${claimText(one)} ${one.owner} ${one.deadlineMs}`).join(", ");
    const what = hold === undefined ? "not acquired" : `acquired ${hold.token} for ${hold.ttlSeconds}`;
    return `${what} [${holds}] ${this.stateOf(found)} ${found.queue.length} ${waitedMs} ${this.tickMs} ${this.revision}`;
  }

  /** Sends a request, for the first time or again. */
  send(request: ModelRequest, attempt: number): string {
    if (this.disabled.has(request.subject)) {
      return "TOKEN_REVOKED";
    }
    const isKnown = request.status !== "new" && request.sinceMs >= this.tickMs - this.#limits.replayWindowMs;
    if (!isKnown || request.status === "cancelled") {
      return this.#begin(request, attempt);
    }
    if (request.status === "refused") {
      return request.reason;
    }
    const found = this.locks.get(lockKey(nameOf(request.operation)));
    if (found === undefined) {
      return request.status === "granted" ? "LOCK_LOST" : "LOCK_NOT_FOUND";
    }
    if (request.status === "not-acquired") {
      return this.describe(found, undefined, 0);
    }
    if (request.status === "granted") {
      const hold = found.holds.find(({ token }) => token === request.token);
      if (hold?.request === request) {
        request.attempt = attempt;
      }
      return hold === undefined ? "LOCK_LOST" : this.describe(found, hold, 0);
    }
    const wait = found.queue.find((one) => one.request === request) as ModelWait;
    this.settled.push(`${request.attempt}: LEADER_CHANGED`);
    request.attempt = attempt;
    wait.askedMs = this.tickMs;
    wait.deadlineMs = this.tickMs + request.operation.waitMs;
    return "queued-lock";
  }

  #begin(request: ModelRequest, attempt: number): string {
    request.attempt = attempt;
    request.sinceMs = this.tickMs;
    try {
      return this.#execute(request);
    } catch (error) {
      if (error instanceof Refused) {
        request.status = "refused";
        request.reason = error.message;
        return error.message;
      }
      throw error;
    }
  }

  #execute(request: ModelRequest): string {
    const { operation: asked } = request;
    const found = this.lockOf(nameOf(asked), asked.mode === "permits");
    if (asked.fencingToken !== 0) {
      return this.#change(found, request);
    }
    if ((asked.permits ?? 0) > found.permits) {
      throw new Refused("BAD_FIELD");
    }
    if (found.queue.length === 0 && this.#mayHave(found, asked)) {
      return this.describe(found, this.#grant(found, request), 0);
    }
    if (asked.waitMs === 0) {
      request.status = "not-acquired";
      return this.describe(found, undefined, 0);
    }
    if (found.queue.length === this.#limits.lockWaitsMax) {
      throw new Refused("QUOTA");
    }
    request.status = "queued";
    request.sinceMs = Number.POSITIVE_INFINITY;
    found.queue.push({ request, askedMs: this.tickMs, deadlineMs: this.tickMs + asked.waitMs });
    return "queued-lock";
  }

  #change(found: ModelLock, request: ModelRequest): string {
    const { operation: asked } = request;
    const hold = found.holds.find(({ token }) => token === asked.fencingToken);
    if (hold === undefined) {
      throw new Refused("LOCK_LOST");
    }
    if (hold.subject !== request.subject || (asked.owner !== "" && asked.owner !== hold.owner)) {
      throw new Refused("NOT_LOCK_HOLDER");
    }
    if ((asked.permits ?? hold.permits) !== hold.permits || asked.value !== undefined) {
      throw new Refused("BAD_FIELD");
    }
    const seconds = asked.ttlSeconds || this.#limits.ttlSeconds;
    if (hold.mode === "read" && asked.mode === "write") {
      if (found.holds.length > 1 || found.queue.length > 0 || found.delayUntilMs !== 0) {
        throw new Refused("UPGRADE_WOULD_DEADLOCK");
      }
      this.end(found, hold, "upgraded");
      return this.describe(found, this.#grant(found, request, { owner: hold.owner, reason: "upgraded" }), 0);
    }
    const isDowngrade = hold.mode === "write" && asked.mode === "read";
    Object.assign(hold, { mode: asked.mode, ttlSeconds: seconds, deadlineMs: this.tickMs + seconds * 1_000 });
    request.status = "granted";
    request.token = hold.token;
    this.revision++;
    if (isDowngrade) {
      this.#addEvent(found, hold, "acquired", "downgraded", this.revision);
    }
    const answer = this.describe(found, hold, 0);
    if (isDowngrade) {
      this.wake(found);
    }
    return answer;
  }

  #mayHave({ holds, delayUntilMs, permits }: ModelLock, { mode, permits: asked = 0 }: Claim): boolean {
    if (mode === "permits") {
      const held = holds.reduce((sum, hold) => sum + (hold.permits ?? 0), 0);
      return held + asked <= permits && holds.length < this.#limits.lockReadersMax;
    }
    if (mode !== "read") {
      return holds.length === 0 && delayUntilMs === 0;
    }
    const isRead = holds.every((hold) => hold.mode === "read");
    return isRead && holds.length < this.#limits.lockReadersMax && (holds.length > 0 || delayUntilMs === 0);
  }

  #grant(
    found: ModelLock,
    request: ModelRequest,
    { owner, reason }: { readonly owner?: string; readonly reason: HoldReason } = { reason: "normal" },
  ): ModelHold {
    const { operation: asked } = request;
    this.revision++;
    const seconds = asked.ttlSeconds || this.#limits.ttlSeconds;
    const hold = {
      token: this.revision,
      owner: owner ?? (asked.owner || request.subject),
      subject: request.subject,
      mode: asked.mode,
      ...(asked.permits !== undefined && { permits: asked.permits }),
      ...(asked.value !== undefined && { value: asked.value }),
      ttlSeconds: seconds,
      request,
      deadlineMs: this.tickMs + seconds * 1_000,
    };
    found.holds.push(hold);
    this.#addEvent(found, hold, "acquired", reason, this.revision);
    Object.assign(request, { status: "granted", token: hold.token, sinceMs: Number.POSITIVE_INFINITY });
    return hold;
  }

  /** Ends the hold at the next revision, which the caller takes. */
  end(found: ModelLock, hold: ModelHold, reason: HoldReason): void {
    found.holds = found.holds.filter((one) => one !== hold);
    hold.request.sinceMs = this.tickMs;
    this.#addEvent(found, hold, "released", reason, this.revision + 1);
  }

  #addEvent(found: ModelLock, hold: ModelHold, kind: ModelEvent["kind"], reason: HoldReason, revision: number): void {
    const { owner, mode, permits, value, token } = hold;
    const claim = { mode, ...(permits !== undefined && { permits }), ...(value !== undefined && { value }) };
    this.events.push({ about: "lock", kind, ...found.name, owner, ...claim, token, reason, revision });
  }

  /** Gives the lock to the next waiters. */
  wake(found: ModelLock): void {
    const granted: [ModelWait, ModelHold][] = [];
    const refused: string[] = [];
    for (let next = found.queue[0]; next !== undefined; next = found.queue[0]) {
      const { request } = next;
      if (!this.#mayHave(found, request.operation)) {
        break;
      }
      found.queue.shift();
      if (this.disabled.has(request.subject)) {
        Object.assign(request, { status: "cancelled", sinceMs: this.tickMs });
        refused.push(`${request.attempt}: TOKEN_REVOKED`);
      } else {
        granted.push([next, this.#grant(found, request)]);
      }
    }
    // Refusals come before grants.
    this.settled.push(...refused);
    for (const [{ request, askedMs }, hold] of granted) {
      this.settled.push(`${request.attempt}: ${this.describe(found, hold, this.tickMs - askedMs)}`);
    }
  }

  release(name: LockName, { subject: who, owner: whose, mode, token }: ModelRelease): string {
    const found = this.lockOf(name);
    const isOwn = (hold: ModelHold) => hold.subject === who && (mode === null || hold.mode === mode);
    const matches = found.holds.filter((hold) => {
      if (token !== 0) {
        return hold.token === token && isOwn(hold) && (whose === "" || whose === hold.owner);
      }
      return isOwn(hold) && hold.owner === (whose || who);
    });
    const [hold] = matches;
    if (hold === undefined || matches.length > 1) {
      throw new Refused(hold === undefined ? "NOT_LOCK_HOLDER" : "AMBIGUOUS_HOLD");
    }
    this.end(found, hold, "normal");
    this.revision++;
    const { revision } = this;
    this.wake(found);
    return `release-lock ${revision}`;
  }

  force(name: LockName, token: number): string {
    const found = this.lockOf(name);
    const taken = found.holds.filter((hold) => token === 0 || hold.token === token);
    if (taken.length === 0) {
      return `force-release-lock none ${this.revision}`;
    }
    for (const hold of taken) {
      this.end(found, hold, "forced");
    }
    this.revision++;
    const { revision } = this;
    this.#startDelay(found);
    this.wake(found);
    return `force-release-lock ${taken[0]?.token} ${revision}`;
  }

  update(name: LockName, permits: number): string {
    const found = this.lockOf(name, true);
    found.permits = permits;
    this.revision++;
    const { revision } = this;
    const isLarge = ({ request }: ModelWait) => (request.operation.permits ?? 0) > permits;
    for (const { request } of found.queue.filter(isLarge)) {
      Object.assign(request, { status: "cancelled", sinceMs: this.tickMs });
      this.settled.push(`${request.attempt}: BAD_FIELD`);
    }
    found.queue = found.queue.filter((wait) => !isLarge(wait));
    this.wake(found);
    return `update-semaphore ${revision}`;
  }

  setValue(name: LockName, { subject, owner, token }: Omit<ModelRelease, "mode">, value: Uint8Array): string {
    const hold = this.lockOf(name, false).holds.find((one) => one.token === token);
    if (hold === undefined) {
      throw new Refused("LOCK_LOST");
    }
    if (hold.subject !== subject || (owner !== "" && owner !== hold.owner)) {
      throw new Refused("NOT_LOCK_HOLDER");
    }
    hold.value = value;
    this.revision++;
    this.#addEvent(this.lockOf(name), hold, "acquired", "updated", this.revision);
    return `set-lock-value ${this.revision}`;
  }

  delete(name: LockName, force: boolean, isSemaphore: boolean): string {
    const found = this.lockOf(name, isSemaphore);
    const { holds, queue, delayUntilMs } = found;
    if (!force && (holds.length > 0 || queue.length > 0 || delayUntilMs !== 0)) {
      throw new Refused("NOT_EMPTY");
    }
    for (const hold of holds) {
      this.end(found, hold, "forced");
    }
    for (const { request } of queue) {
      Object.assign(request, { status: "cancelled", sinceMs: this.tickMs });
      this.settled.push(`${request.attempt}: LOCK_NOT_FOUND`);
    }
    this.locks.delete(lockKey(name));
    this.revision++;
    return `delete-lock ${this.revision}`;
  }

  cancel(request: ModelRequest, attempt: number): void {
    if (request.attempt !== attempt || (request.status !== "queued" && request.status !== "granted")) {
      return;
    }
    const found = this.locks.get(lockKey(nameOf(request.operation)));
    if (found === undefined) {
      return;
    }
    const hold = found.holds.find((one) => one.request === request);
    if (request.status === "granted" && hold === undefined) {
      return;
    }
    if (hold !== undefined) {
      this.end(found, hold, "normal");
      this.revision++;
    }
    found.queue = found.queue.filter((wait) => wait.request !== request);
    Object.assign(request, { status: "cancelled", sinceMs: this.tickMs });
    this.wake(found);
  }

  /** Everything that is due of all locks, the earliest first; at the same moment, holds before waits before delays. */
  due(): { readonly end: () => void }[] {
    const about: { deadlineMs: number; order: number; end: () => void }[] = [];
    for (const found of this.locks.values()) {
      for (const hold of found.holds) {
        about.push({ deadlineMs: hold.deadlineMs, order: 0, end: () => this.#expire(found, hold) });
      }
      for (const wait of found.queue) {
        about.push({ deadlineMs: wait.deadlineMs, order: 1, end: () => this.#endWait(found, wait) });
      }
      if (found.delayUntilMs !== 0) {
        about.push({ deadlineMs: found.delayUntilMs, order: 2, end: () => this.#endDelay(found) });
      }
    }
    about.sort((a, b) => a.deadlineMs - b.deadlineMs || a.order - b.order);
    return about.filter(({ deadlineMs }) => deadlineMs < this.tickMs);
  }

  #expire(found: ModelLock, hold: ModelHold): void {
    this.end(found, hold, "expired");
    this.revision++;
    this.#startDelay(found);
    this.wake(found);
  }

  #startDelay(found: ModelLock): void {
    found.delayUntilMs = found.permits > 0 ? 0 : this.tickMs + this.#limits.lockDelaySeconds * 1_000;
  }

  #endWait(found: ModelLock, wait: ModelWait): void {
    if (!found.queue.includes(wait)) {
      return;
    }
    found.queue = found.queue.filter((one) => one !== wait);
    const { request } = wait;
    Object.assign(request, { status: "not-acquired", sinceMs: this.tickMs });
    this.settled.push(`${request.attempt}: ${this.describe(found, undefined, this.tickMs - wait.askedMs)}`);
    this.wake(found);
  }

  #endDelay(found: ModelLock): void {
    // An earlier expiry of the same batch may have restarted it.
    if (found.delayUntilMs < this.tickMs) {
      found.delayUntilMs = 0;
      this.wake(found);
    }
  }
}

export interface ModelRelease {
  readonly subject: string;
  readonly owner: string;
  readonly mode: LockMode | null;
  readonly token: number;
}

/** What a hold has of its lock. */
export function claimText({ mode, permits, value = new Uint8Array() }: Claim): string {
  return `${mode} ${permits} ${value.toHex()}`;
}

export function lockKey({ rw, name }: LockName): string {
  return `${rw} ${name}`;
}

function nameOf({ namespace, name, mode }: AcquireLock): LockName {
  return { namespace, name, rw: mode === "read" || mode === "write" };
}
