/**
 * The rules of locks, seen from outside: how the rows of each lock change with each command of the log. They check
 * which request gets a lock, why a hold or a wait ends, and that a guarded write takes effect only under its hold.
 */

import type { ProposalOrigin } from "../../src/raft/index.ts";
import {
  type AcquireLock,
  type Command,
  CoordinationError,
  describeLock,
  type Guard,
  type Hold,
  type Lock,
  type LockName,
  type StateReader,
  visitWaits,
  type Wait,
} from "../../src/state/index.ts";
import { type AccessRules, isRevocation } from "./access-rules.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import { must } from "./rule-violation.ts";
import { executedIn, operationsIn } from "./transacted.ts";

/** A lock with its holds and waits. */
interface Seen {
  readonly lock: Readonly<Lock>;
  readonly holds: readonly Hold[];
  readonly waits: readonly Wait[];
}

/** A request for a lock, as the log knows it. */
interface Acquisition {
  readonly operation: AcquireLock;
  /** The newest attempt that was executed, and its entry. */
  attempt: ProposalOrigin;
  attemptIndex: number;
  /** The entry that has ended its last wait, by a grant or by its time limit; 0 = none. */
  settledIndex: number;
  /** Tokens of the holds that it was granted. */
  readonly tokens: number[];
  /** Its caller had left, so that it may get another hold. */
  isCancelled: boolean;
}

/** A lock before and after a command that named it. */
export interface ChangedLock {
  readonly before: Seen;
  readonly now: Seen;
  /** Holds that are new, and holds that are gone; both ascending by token. */
  readonly granted: readonly Hold[];
  readonly ended: readonly Hold[];
}

interface Change extends ChangedLock {
  readonly executed: ExecutedCommand;
}

const MS_PER_SECOND = 1000;
/** How often commands may name a hold or a wait as expired: several leaders may do so, and again after each renewal. */
const NAMED_MAX = 20;

export class LockRules implements ExecutionObserver {
  readonly #readersMax: number;
  readonly #access: Pick<AccessRules, "revokedAt">;
  readonly #locks = new Map<string, Seen>();
  readonly #acquisitions = new Map<string, Acquisition>();
  /** Entries by which holds have expired, by token. */
  readonly #expiries = new Map<number, number>();
  /** How often commands have named each expired hold or wait. */
  readonly #named = new Map<string, number>();
  /** Tokens of the present entry. Those of earlier ones are below its first revision. */
  #tokens = new Set<number>();
  #changed: ChangedLock[] = [];
  #grants = 0;
  #fenced = 0;

  /** @param access must see each command first. */
  constructor(readersMax: number, access: Pick<AccessRules, "revokedAt">) {
    this.#readersMax = readersMax;
    this.#access = access;
  }

  /** Numbers of granted holds, and of refused guarded writes. */
  get grants(): number {
    return this.#grants;
  }

  get fenced(): number {
    return this.#fenced;
  }

  /** The locks that the last command named. */
  get changed(): readonly ChangedLock[] {
    return this.#changed;
  }

  /** Expired holds: their tokens, and the entries that have ended them. */
  get expiries(): ReadonlyMap<number, number> {
    return this.#expiries;
  }

  /** An answer says that the request has this hold. */
  onAnsweredHold(subject: string, requestId: Uint8Array, token: number): void {
    const tokens = this.#acquisitions.get(keyOf(subject, requestId))?.tokens ?? [];
    must(tokens.includes(token), "S24 an answer names only a hold that the request was granted", () => {
      return `${requestId.toHex().slice(0, 8)}: ${token}, not ${tokens.join(" or ")}`;
    });
  }

  /** The entry that has ended the wait of this start of a member for the request; null if it waits, or never did. */
  settledFor(subject: string, requestId: Uint8Array, memberId: number, boot: number): number | null {
    const acquisition = this.#acquisitions.get(keyOf(subject, requestId));
    if (acquisition === undefined || acquisition.settledIndex <= acquisition.attemptIndex) {
      return null;
    }
    const { attempt } = acquisition;
    return attempt.memberId === memberId && attempt.boot === boot ? acquisition.settledIndex : null;
  }

  /** Whether the request waits for a lock or has a hold. */
  isLive(subject: string, requestId: Uint8Array): boolean {
    const acquisition = this.#acquisitions.get(keyOf(subject, requestId));
    const seen = acquisition === undefined ? undefined : this.#locks.get(nameOf(lockOf(acquisition.operation)));
    return [...(seen?.holds ?? []), ...(seen?.waits ?? [])].some((one) => isEqual(one.requestId, requestId));
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { command } = executed;
    this.#checkGuard(executed);
    this.#checkNamed(executed);
    const names = this.#locksOf(command);
    this.#note(executed);
    this.#tokens = new Set();
    this.#changed = [];
    for (const name of names) {
      this.#look(executed, state, name);
    }
  }

  /** The locks that the command names. */
  #locksOf({ operation }: Command): readonly LockName[] {
    switch (operation.kind) {
      case "create-lock":
      case "release-lock":
      case "force-release-lock":
        return [operation];
      case "create-semaphore":
      case "update-semaphore":
      case "set-lock-value":
        return [{ namespace: operation.namespace, rw: false, name: operation.name }];
      case "acquire-lock":
        return [lockOf(operation)];
      case "transact": {
        const released = operationsIn(operation).filter((one) => one.kind === "release-lock");
        return [...new Map(released.map((lock) => [nameOf(lock), lock])).values()];
      }
      case "expire-locks":
        return [...new Map(operation.timers.map(({ lock }) => [nameOf(lock), lock])).values()];
      case "cancel-acquisition": {
        const acquisition = this.#acquisitions.get(keyOf(operation.subject, operation.requestId));
        return acquisition === undefined ? [] : [lockOf(acquisition.operation)];
      }
      default:
        return [];
    }
  }

  /** Notes the newest attempt of a request. */
  #note({ index, command: { principal, request, operation }, origin, outcome }: ExecutedCommand): void {
    if (operation.kind !== "acquire-lock" || request === null || outcome?.answer instanceof CoordinationError) {
      return;
    }
    const key = keyOf(principal.subject, request.requestId);
    const known = this.#acquisitions.get(key);
    if (known === undefined) {
      const attempts = { attempt: origin, attemptIndex: index, settledIndex: 0 };
      this.#acquisitions.set(key, { operation, ...attempts, tokens: [], isCancelled: false });
    } else {
      known.attempt = origin;
      known.attemptIndex = index;
    }
  }

  /** A guarded write takes effect while its hold is live, and only then (P53). */
  #checkGuard({ index, command: { operation }, outcome }: ExecutedCommand): void {
    const guard = "guard" in operation ? operation.guard : undefined;
    const isOfItsNamespace = "namespace" in operation && operation.kind !== "create-log";
    if (guard === undefined || !isOfItsNamespace || outcome === null || outcome.replayed !== "no") {
      return;
    }
    if (isRevocation(outcome.answer)) {
      return;
    }
    const isFenced = outcome.answer instanceof CoordinationError && outcome.answer.reason === "FENCED";
    const isLive = this.#isLive(operation.namespace, guard);
    const what = (): string => `entry ${index}: ${operation.kind} under ${guard.fencingToken} of ${guard.lockName}`;
    must(isFenced || isLive, "P53 a guarded write counts only while its hold is live", what);
    must(!(isFenced && isLive), "P53 a guarded write counts while its hold is live", what);
    this.#fenced += Number(isFenced);
  }

  /** An expired hold or wait ends when a command names it, or soon: its timer is gone then. */
  #checkNamed({ index, command: { operation } }: ExecutedCommand): void {
    for (const { about, lock, number } of operation.kind === "expire-locks" ? operation.timers : []) {
      const key = `${about} ${number} of ${nameOf(lock)}`;
      const count = about === "delay" ? 0 : (this.#named.get(key) ?? 0) + 1;
      this.#named.set(key, count);
      must(count <= NAMED_MAX, "S22 what has run out is named until it ends, and not for ever", () => {
        return `entry ${index}: ${key}, ${count} times`;
      });
    }
  }

  #isLive(namespace: string, { lockName, rw, fencingToken }: Guard): boolean {
    const holds = this.#locks.get(nameOf({ namespace, rw, name: lockName }))?.holds ?? [];
    return holds.some(({ token, mode }) => token === fencingToken && mode !== "read");
  }

  #look(executed: ExecutedCommand, state: StateReader, name: LockName): void {
    const now = seenOf(state, name);
    if (now === null) {
      return;
    }
    const before = this.#locks.get(nameOf(name)) ?? { ...now, holds: [], waits: [] };
    this.#locks.set(nameOf(name), now);
    const granted = now.holds.filter(({ token }) => !before.holds.some((hold) => hold.token === token));
    const ended = before.holds.filter(({ token }) => !now.holds.some((hold) => hold.token === token));
    const change = { executed, before, now, granted, ended };
    this.#changed.push(change);
    this.#checkRefused(change);
    this.#checkEnded(change);
    this.#checkKept(change);
    this.#checkClaims(change);
    this.#checkWaits(change);
    this.#checkGranted(change);
    this.#checkUndone(change);
    this.#checkRest(change);
  }

  /** A refused command changes nothing (S26). */
  #checkRefused({ executed, before, now }: Change): void {
    const isRefused = executed.outcome?.answer instanceof CoordinationError && executed.outcome.replayed === "no";
    must(!isRefused || wordsOf(before) === wordsOf(now), "S26 what is refused leaves the lock as it was", () => {
      return `entry ${executed.index}: ${wordsOf(before)}, then ${wordsOf(now)}`;
    });
  }

  /** Each hold ends for a reason. */
  #checkEnded(change: Change): void {
    const { executed, before, ended } = change;
    const { index, tickMs, command } = executed;
    const { operation } = command;
    for (const hold of ended) {
      const what = (): string => `entry ${index}: ${operation.kind} ends ${hold.token} of ${before.lock.name}`;
      switch (operation.kind) {
        case "release-lock": {
          const { fencingToken, owner } = operation;
          const isNamed = fencingToken === 0 ? ended.length === 1 : fencingToken === hold.token;
          const wanted = fencingToken === 0 ? owner || command.principal?.subject : owner || hold.owner;
          const isOwn = hold.subject === command.principal?.subject && hold.owner === wanted;
          must(isNamed && isOwn, "S26 a hold is released by its token and its owner alone", what);
          break;
        }
        case "transact": {
          const isNamed = executedIn(operation, executed.outcome?.answer ?? null).some((one) => {
            return one.operation.kind === "release-lock" && one.operation.fencingToken === hold.token;
          });
          const isOwn = hold.subject === command.principal?.subject;
          must(isNamed && isOwn, "S26 a transaction releases the holds of its caller that it names", what);
          break;
        }
        case "force-release-lock": {
          const isNamed = operation.fencingToken === 0 || operation.fencingToken === hold.token;
          must(isNamed, "S26 the hold that is named is taken away, and no other", what);
          break;
        }
        case "expire-locks": {
          const isNamed = operation.timers.some(({ about, number }) => about === "hold" && number === hold.token);
          must(isNamed && hold.deadlineMs < tickMs, "I23 a hold ends when its time is up, and not before", () => {
            return `${what()} at tick ${tickMs}, deadline ${hold.deadlineMs}`;
          });
          this.#expiries.set(hold.token, index);
          break;
        }
        case "cancel-acquisition":
          this.#checkCancelled(change, hold.requestId);
          break;
        case "acquire-lock": {
          const isUpgrade = operation.fencingToken === hold.token && operation.mode === "write";
          must(isUpgrade, "S29 a hold ends by its own upgrade, and by no other acquisition", what);
          break;
        }
        default:
          must(false, "I23 a hold ends for a reason", what);
      }
    }
  }

  /** Only the newest attempt of a request undoes it (S25). */
  #checkCancelled({ executed: { index, command } }: Change, requestId: Uint8Array): void {
    const { operation } = command;
    const isOwn =
      operation.kind === "cancel-acquisition" && operation.requestId.toHex() === requestId.toHex()
        ? this.#acquisitions.get(keyOf(operation.subject, requestId))
        : undefined;
    const isNewest = isOwn !== undefined && "attempt" in operation && isSame(isOwn.attempt, operation.attempt);
    must(isNewest, "S25 a request is undone by its newest attempt alone", () => {
      return `entry ${index}: ${operation.kind} ends what ${requestId.toHex().slice(0, 8)} has`;
    });
    (isOwn as Acquisition).isCancelled = true;
  }

  /** A request that its newest attempt has undone neither waits nor holds (S25). */
  #checkUndone({ executed: { index, command }, now }: Change): void {
    const { operation } = command;
    if (operation.kind !== "cancel-acquisition") {
      return;
    }
    const acquisition = this.#acquisitions.get(keyOf(operation.subject, operation.requestId));
    if (acquisition !== undefined && isSame(acquisition.attempt, operation.attempt)) {
      const left = [...now.holds, ...now.waits].some(({ requestId }) => isEqual(requestId, operation.requestId));
      must(!left, "S25 what is undone neither waits nor holds", () => {
        return `entry ${index}: ${operation.requestId.toHex().slice(0, 8)}, ${wordsOf(now)}`;
      });
    }
  }

  /** A hold that goes on changes only by a renewal, and gets its whole time from then (S21). */
  #checkKept({ executed, before, now }: Change): void {
    const { index, tickMs, command } = executed;
    const { operation } = command;
    for (const hold of now.holds) {
      const last = before.holds.find(({ token }) => token === hold.token);
      if (last !== undefined && (last.deadlineMs !== hold.deadlineMs || last.mode !== hold.mode)) {
        const isRenewed = operation.kind === "acquire-lock" && operation.fencingToken === hold.token;
        const seconds = isRenewed ? operation.ttlSeconds || now.lock.ttlSeconds : 0;
        const isWhole = hold.deadlineMs === tickMs + seconds * MS_PER_SECOND;
        must(isRenewed && isWhole, "S21 a hold has its whole time from its renewal, and not without one", () => {
          return `entry ${index}: ${hold.token} until ${hold.deadlineMs}, before ${last.deadlineMs}, tick ${tickMs}`;
        });
      }
    }
  }

  /** A hold keeps its permits, and its value unless its holder changes it. */
  #checkClaims({ executed, before, now }: Change): void {
    const { index, command } = executed;
    const { operation } = command;
    for (const hold of now.holds) {
      const last = before.holds.find(({ token }) => token === hold.token);
      const isSet = operation.kind === "set-lock-value" && operation.fencingToken === hold.token;
      const what = (): string => `entry ${index}: ${operation.kind}, ${hold.token} of ${now.lock.name}`;
      if (last === undefined) {
        continue;
      }
      must(last.permits === hold.permits, "a hold keeps its permits", what);
      const isChanged = textOf(last.value) !== textOf(hold.value);
      const isOwn = isSet && command.principal?.subject === hold.subject;
      const isWanted = isOwn && textOf(operation.value) === textOf(hold.value);
      must(!isChanged || isWanted, "the value of a hold is changed by its holder alone", what);
      const isExecuted = executed.outcome?.replayed === "no" && !(executed.outcome.answer instanceof CoordinationError);
      must(!isSet || !isExecuted || isWanted, "the holder changes the value of its hold", what);
    }
  }

  /** A waiter stays in place until it gets the lock, its time is up, or its caller has left. */
  #checkWaits(change: Change): void {
    const { executed, before, now, granted } = change;
    const { index, tickMs, command, settled } = executed;
    const { operation } = command;
    for (const wait of before.waits) {
      const acquisition = this.#acquisitions.get(keyOf(wait.principal.subject, wait.requestId));
      const what = (): string => `entry ${index}: ${operation.kind}, wait ${wait.position} for ${before.lock.name}`;
      if (now.waits.some(({ position }) => position === wait.position)) {
        continue;
      }
      const isGranted = granted.some(({ requestId }) => isEqual(requestId, wait.requestId));
      const told = settled.find(({ attempt }) => acquisition !== undefined && isSame(attempt, acquisition.attempt));
      const isRefused = isRevocation(told?.outcome.answer) && this.#access.revokedAt(wait.principal) !== null;
      if (!isGranted && !isRefused && operation.kind === "cancel-acquisition") {
        this.#checkCancelled(change, wait.requestId);
        continue;
      }
      const isNamed =
        operation.kind === "expire-locks" &&
        operation.timers.some(({ about, number }) => about === "wait" && number === wait.position);
      const isOver = isNamed && wait.deadlineMs < tickMs;
      const isTooLarge = operation.kind === "update-semaphore" && (wait.permits ?? 0) > now.lock.permits;
      must(isGranted || isRefused || isOver || isTooLarge, "S24 no waiter is lost", what);
      must(told !== undefined, "S24 each waiter gets the outcome of its wait", what);
      (acquisition as Acquisition).settledIndex = index;
    }
    for (const wait of now.waits) {
      const isNew = !before.waits.some(({ position }) => position === wait.position);
      const isLast = now.waits.at(-1) === wait && wait.position === index;
      must(!isNew || isLast, "S29 a new waiter waits behind all others", () => `entry ${index}`);
    }
  }

  /** A granted request has requested the lock, has waited longest for it, and gets one hold with a new token. */
  #checkGranted({ executed, before, now, granted, ended }: Change): void {
    const { index, tickMs, revision, revisionAfter, command } = executed;
    for (const hold of granted) {
      const { token, requestId, mode } = hold;
      const what = (): string => `entry ${index}: ${token} of ${now.lock.name} for ${requestId.toHex().slice(0, 8)}`;
      const isRevision = token > revision && token <= revisionAfter;
      // One entry may end holds of several locks in turn, and the rules do not see them in the order of their grants.
      const isNew = !this.#tokens.has(token) && token > before.lock.lastToken;
      must(isRevision && isNew, "S28 tokens are revisions, and grow for ever", what);
      this.#tokens.add(token);
      this.#grants++;
      const wait = before.waits.find((one) => isEqual(one.requestId, requestId));
      const isAsked = command.operation.kind === "acquire-lock" && isEqual(command.request?.requestId, requestId);
      const acquisition = this.#acquisitions.get(keyOf(hold.subject, requestId));
      must((isAsked || wait !== undefined) && acquisition !== undefined, "S24 holds go to those who ask", what);
      const revokedAt = wait === undefined ? null : this.#access.revokedAt(wait.principal);
      must(
        revokedAt === null,
        "revocation: no lock goes to a waiter who was revoked",
        () => `${what()}, entry ${revokedAt}`,
      );
      const { permits: asked, value: shown } = acquisition.operation;
      const isClaim = hold.permits === asked && textOf(hold.value) === textOf(shown);
      must(isClaim, "a hold has the permits and the value that its request asked for", what);
      must(permitsOf(now.holds) <= now.lock.permits, "permits are never exceeded by a grant", () => {
        return `${what()}, ${wordsOf(now)} of ${now.lock.permits}`;
      });
      const isFirst = acquisition.tokens.length === 0 || acquisition.isCancelled;
      must(isFirst, "S24 a request gets one hold", () => `${what()}, after ${acquisition.tokens.join()}`);
      acquisition.tokens.push(token);
      acquisition.isCancelled = false;
      const overtaken = now.waits.find(({ position }) => position < (wait?.position ?? index));
      must(
        overtaken === undefined,
        "S29 no request overtakes a waiter",
        () => `${what()}, and not ${overtaken?.position}`,
      );
      const hasExpired = ended.length > 0 && ["expire-locks", "force-release-lock"].includes(command.operation.kind);
      const isDelayed = before.lock.delayUntilMs >= tickMs || (hasExpired && now.lock.lockDelaySeconds > 0);
      must(mode === "read" || !isDelayed, "only readers get a lock before its delay is over", what);
      const seconds = acquisition.operation.ttlSeconds || now.lock.ttlSeconds;
      must(hold.deadlineMs === tickMs + seconds * MS_PER_SECOND, "S21 a hold has its whole time from its grant", what);
    }
  }

  /** Holds exclude each other, and no request waits for a lock that it could get. */
  #checkRest({ executed: { index, command }, now: { lock, holds, waits } }: Change): void {
    const what = (): string => `entry ${index}: ${command.operation.kind}, ${wordsOf({ lock, holds, waits })}`;
    const isShared = holds.every(({ mode }) => mode === "read") || holds.every(({ mode }) => mode === "permits");
    must(isShared || holds.length === 1, "P53 holds exclude each other", what);
    must(permitsOf(holds) === lock.heldPermits, "a semaphore counts the permits of its holds", what);
    const [first] = waits;
    if (first !== undefined) {
      const isDelayed = lock.delayUntilMs !== 0;
      const isRead = holds.length > 0 && holds.every(({ mode }) => mode === "read");
      const isForReader = (isRead && holds.length < this.#readersMax) || (holds.length === 0 && !isDelayed);
      const isFree =
        first.mode === "permits"
          ? permitsOf(holds) + (first.permits ?? 0) <= lock.permits && holds.length < this.#readersMax
          : first.mode === "read"
            ? isForReader
            : holds.length === 0 && !isDelayed;
      must(!isFree, "S29 no request waits for a lock that it could get", what);
    }
  }
}

function seenOf(state: StateReader, name: LockName): Seen | null {
  try {
    const { lock, holds } = describeLock(state, name);
    const waits: Wait[] = [];
    visitWaits(state, lock, (wait) => waits.push(wait) > 0);
    return { lock, holds, waits };
  } catch (error) {
    if (error instanceof CoordinationError && error.reason === "LOCK_NOT_FOUND") {
      return null;
    }
    throw error;
  }
}

function lockOf({ namespace, name, mode }: AcquireLock): LockName {
  return { namespace, name, rw: mode === "read" || mode === "write" };
}

function permitsOf(holds: readonly Hold[]): number {
  return holds.reduce((sum, { permits = 0 }) => sum + permits, 0);
}

/** The value of a hold as text; "" = none. */
function textOf(value: Uint8Array | undefined): string {
  return Buffer.from(value ?? []).toString("hex");
}

function nameOf({ namespace, rw, name }: LockName): string {
  return `${rw} ${namespace}/${name}`;
}

function keyOf(subject: string, requestId: Uint8Array): string {
  return `${requestId.toHex()} of ${subject}`;
}

function isEqual(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.compare(one, other) === 0;
}

function isSame(one: ProposalOrigin, other: ProposalOrigin): boolean {
  return one.memberId === other.memberId && one.boot === other.boot && one.seq === other.seq;
}

function wordsOf({ lock, holds, waits }: Seen): string {
  const held = holds.map(({ token, mode, permits = "", value, deadlineMs }) => {
    return `${mode} ${permits} ${textOf(value)} ${token} until ${deadlineMs}`;
  });
  const queue = waits.map(({ position, mode, permits = "", deadlineMs }) => {
    return `${mode} ${permits} ${position} until ${deadlineMs}`;
  });
  return `held [${held.join(", ")}] wanted [${queue.join(", ")}] delayed until ${lock.delayUntilMs}`;
}
