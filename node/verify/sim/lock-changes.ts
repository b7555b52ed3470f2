/**
 * The beginnings and ends of holds that watchers must get. They follow from how a command has changed the holds of
 * locks: the revision, the order and the reason of each. The rules compare the history of the command with them at
 * once.
 *
 * A hold begins at the revision that is its token. Its end has a revision of its own, before the revisions of the holds
 * that it lets in. An upgrade ends one hold and begins another at one revision. A downgrade begins the same hold again, and
 * so does a change of its value.
 */

import {
  type ClusterOperation,
  type Command,
  type Hold,
  type HoldReason,
  type LockChange,
  type LockName,
  type StateReader,
  scanHistory,
} from "../../src/state/index.ts";
import type { ExpectedChange } from "./expected-changes.ts";
import type { ExecutedCommand } from "./live-execution.ts";
import type { ChangedLock } from "./lock-rules.ts";
import { must } from "./rule-violation.ts";

/** The effect of a command on one lock at one revision, before it lets other requests in. */
interface Step {
  readonly changed: ChangedLock;
  /** Holds that end, and holds that begin at the same revision. */
  readonly ended: readonly Hold[];
  readonly begun: readonly Hold[];
  readonly reason: HoldReason;
}

/** The change as text that can be compared. */
export function wordsOfLockChange(change: Omit<LockChange, "about" | "namespace">, revision: number): string {
  const { kind, rw, name, owner, mode, permits = "", value = new Uint8Array(), token, reason } = change;
  return `${kind} ${token} (${mode}${permits}, ${reason}${Buffer.from(value).toString("hex")}) of ${owner}, ${rw ? "read-write" : "exclusive"} ${name} at ${revision}`;
}

/** The changes that the command has made to its locks, ascending by revision. */
export function lockChangesOf(
  { command: { operation }, index, revision, revisionAfter }: ExecutedCommand,
  changed: readonly ChangedLock[],
): readonly ExpectedChange[] {
  const granted = new Map(
    changed.flatMap((one) => one.granted.map((hold) => [hold.token, { hold, changed: one }] as const)),
  );
  const made: ExpectedChange[] = [];
  const isExecuted = revisionAfter > revision;
  let last = revision;
  const tell = (kind: LockChange["kind"], lock: LockName, hold: Hold, reason: HoldReason): void => {
    const { owner, mode, permits, value, token } = hold;
    const claim = { mode, ...(permits !== undefined && { permits }), ...(value !== undefined && { value }) };
    const { namespace, rw, name } = lock;
    const words = wordsOfLockChange({ kind, rw, name, owner, ...claim, token, reason }, last);
    made.push({ revision: last, namespace, name, words });
  };
  for (const { changed: one, ended, begun, reason } of stepsOf(operation, changed, isExecuted)) {
    const { lock } = one.now;
    // A change of the number of permits has a revision, and changes no hold.
    last += Number(ended.length + begun.length > 0 || (operation.kind === "update-semaphore" && isExecuted));
    for (const hold of ended) {
      tell("released", lock, hold, reason);
    }
    for (const hold of begun) {
      tell("acquired", lock, hold, reason);
      granted.delete(hold.token);
    }
    for (let next = granted.get(last + 1); next?.changed === one; next = granted.get(last + 1)) {
      last++;
      tell("acquired", lock, next.hold, "normal");
      granted.delete(next.hold.token);
    }
  }
  must(
    granted.size === 0 && (made.length === 0 || last === revisionAfter),
    "S37 ends come before what they let in",
    () => {
      const left = [...granted.keys()].join();
      return `entry ${index}: ${operation.kind} from ${revision} to ${revisionAfter}, left ${left || "none"}: ${wordsOf(made)}`;
    },
  );
  return made;
}

/** Checks that the history keeps exactly the changes that a command with locks has made. */
export function checkKept(
  { index, revision, revisionAfter }: ExecutedCommand,
  state: StateReader,
  made: readonly ExpectedChange[],
): void {
  const kept: string[] = [];
  scanHistory(state, revision + 1, revisionAfter, ({ changes, revision: at }) => {
    for (const change of changes) {
      if (change.about === "lock") {
        kept.push(wordsOfLockChange(change, at));
      }
    }
    return true;
  });
  must(kept.join("; ") === wordsOf(made), "S37 the history has each beginning and end of a hold, as it was", () => {
    return `entry ${index}: ${kept.join("; ")} instead of ${wordsOf(made)}`;
  });
}

/** The effects of the command on locks, in this order. */
function stepsOf(
  operation: Command["operation"],
  changed: readonly ChangedLock[],
  isExecuted: boolean,
): readonly Step[] {
  const [first] = changed;
  if (first === undefined) {
    return [];
  }
  const nothing: Step = { changed: first, ended: [], begun: [], reason: "normal" };
  switch (operation.kind) {
    case "expire-locks":
      return stepsOfExpiry(operation.timers, changed);
    case "force-release-lock":
      return [{ ...nothing, ended: first.ended, reason: "forced" }];
    case "acquire-lock": {
      if (first.ended.length > 0) {
        return [{ ...nothing, ended: first.ended, begun: first.granted, reason: "upgraded" }];
      }
      const downgraded = first.now.holds.filter(({ token, mode }) => {
        return first.before.holds.some((hold) => hold.token === token && hold.mode !== mode);
      });
      return [{ ...nothing, begun: downgraded, reason: downgraded.length > 0 ? "downgraded" : "normal" }];
    }
    case "set-lock-value": {
      const begun = first.now.holds.filter(({ token }) => isExecuted && token === operation.fencingToken);
      return [{ ...nothing, begun, reason: "updated" }];
    }
    default:
      return [{ ...nothing, ended: first.ended }];
  }
}

/** Timers are handled one after the other; each hold ends once. */
function stepsOfExpiry(
  timers: (ClusterOperation & { readonly kind: "expire-locks" })["timers"],
  changed: readonly ChangedLock[],
): readonly Step[] {
  const left = new Map(changed.flatMap(({ ended }) => ended.map((hold) => [hold.token, hold] as const)));
  return timers.flatMap(({ about, lock, number }): Step[] => {
    const one = changed.find(({ now }) => now.lock.name === lock.name && now.lock.rw === lock.rw);
    if (one === undefined) {
      return [];
    }
    const hold = about === "hold" ? left.get(number) : undefined;
    left.delete(hold?.token ?? 0);
    return [{ changed: one, ended: hold === undefined ? [] : [hold], begun: [], reason: "expired" }];
  });
}

function wordsOf(made: readonly ExpectedChange[]): string {
  return made.map(({ words }) => words).join("; ");
}
