/**
 * The rules of revocation. From its entry on, no member does anything for the principal, in any order of events. From
 * its answer on, no member shows the principal anything. No other principal is refused.
 */

import { type Command, CoordinationError, type Principal, type Result } from "../../src/state/index.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import { must } from "./rule-violation.ts";

/** What an administrator revokes: an API key, or a user with all of its keys and logins. */
export interface Revocable {
  readonly kind: "api-key" | "user";
  readonly id: string;
}

export class AccessRules implements ExecutionObserver {
  /** By what was revoked, the first entry that did so. */
  readonly #revoked = new Map<string, number>();
  /** Revocations that an administrator got an answer for. */
  readonly #acknowledged = new Set<string>();
  #refused = 0;

  /** API keys and users that were revoked. */
  get revocations(): number {
    return this.#revoked.size;
  }

  /** Calls that were refused because of a revocation. */
  get refused(): number {
    return this.#refused;
  }

  /** The entry that has revoked a credential of the principal; null if no applied entry has. */
  revokedAt(principal: Principal): number | null {
    const indexes = namesOf(principal).flatMap((name) => this.#revoked.get(name) ?? []);
    return indexes.length === 0 ? null : Math.min(...indexes);
  }

  after({ index, revision, revisionAfter, command, outcome }: ExecutedCommand): void {
    const { principal, operation } = command;
    if (principal !== null) {
      const isRefused = isRevocation(outcome?.answer);
      const what = (): string => `entry ${index}: ${operation.kind} of ${namesOf(principal).join(" by ")}`;
      const revokedAt = this.revokedAt(principal);
      must(isRefused || revokedAt === null, "revocation: nothing is done for whom was revoked before", () => {
        return `${what()}, revoked by entry ${revokedAt}`;
      });
      this.#requireReason(principal, isRefused, what);
      must(!isRefused || revisionAfter === revision, "revocation: what is refused changes nothing", what);
    }
    this.#note(command, index, outcome?.answer);
  }

  /** An administrator gets the answer that this is revoked. */
  onAcknowledged(revoked: Revocable): void {
    const name = nameOf(revoked);
    must(this.#revoked.has(name), "I22 a revocation that was acknowledged is in the log", () => name);
    this.#acknowledged.add(name);
  }

  /**
   * A call of the principal begins. The caller must pass to the returned function whether the answer refused the call
   * because of a revocation, or gave a result. A call that fails otherwise shows nothing.
   */
  begin(principal: Principal, what: string): (isRefused: boolean) => void {
    const isLate = namesOf(principal).some((name) => this.#acknowledged.has(name));
    return (isRefused) => {
      must(isRefused || !isLate, "revocation: what begins after it was acknowledged is refused", () => what);
      this.#requireReason(principal, isRefused, () => what);
      this.#refused += Number(isRefused);
    };
  }

  #requireReason(principal: Principal, isRefused: boolean, what: () => string): void {
    must(
      !isRefused || this.revokedAt(principal) !== null,
      "revocation: only a revoked caller is refused as revoked",
      what,
    );
  }

  #note({ operation }: Command, index: number, answer: Result | CoordinationError | undefined): void {
    const revoked = revokedBy(operation);
    if (revoked === null || answer === undefined || answer instanceof CoordinationError) {
      return;
    }
    const name = nameOf(revoked);
    this.#revoked.set(name, this.#revoked.get(name) ?? index);
  }
}

/** Whether this is a refusal because of a revocation. */
export function isRevocation(answer: unknown): boolean {
  return answer instanceof CoordinationError && answer.reason === "TOKEN_REVOKED";
}

function revokedBy(operation: Command["operation"]): Revocable | null {
  switch (operation.kind) {
    case "revoke-api-key":
      return { kind: "api-key", id: operation.apiKeyId };
    case "update-user":
      return operation.status === "disabled" ? { kind: "user", id: operation.userId } : null;
    default:
      return null;
  }
}

/** The user and the API key of the principal: each of them can be revoked. */
function namesOf({ subject, apiKeyId }: Principal): readonly string[] {
  const user = nameOf({ kind: "user", id: subject });
  return apiKeyId === "" ? [user] : [user, nameOf({ kind: "api-key", id: apiKeyId })];
}

function nameOf({ kind, id }: Revocable): string {
  return `${kind} ${id}`;
}
