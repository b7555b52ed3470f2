/**
 * A store failed to do a request. This says nothing about the backups in it. The message names the store without
 * secrets, the operation, the reason, and the next step.
 */

export type StoreFailureKind =
  /** No answer, or a lost connection; also after all retries. */
  | "unreachable"
  /** The credentials are missing, wrong, or not allowed to do this. */
  | "denied"
  /** The bucket, or the directory, does not exist. */
  | "no-such-bucket"
  /** The object does not exist. */
  | "not-found"
  /** The store asks for fewer requests. */
  | "throttled"
  /** There is no space left, or a quota is used up. */
  | "full"
  | "other";

const NEXT_STEPS: Readonly<Record<StoreFailureKind, string>> = {
  unreachable: "Check that the address is right and can be reached from here; then try again",
  denied: "Check the credentials, and that they may list, read, write and delete there",
  "no-such-bucket": "Create it, or correct its name",
  "not-found": "List the objects; it may have been deleted in the meantime",
  throttled: "Try again later, or raise the limits of the store",
  full: "Free space, raise the quota, or keep fewer backups",
  other: "See the reason, correct it, and try again",
};

export interface StoreFailureDetails {
  readonly kind: StoreFailureKind;
  /** The address of the store, as returned by `describe`. */
  readonly store: string;
  /** The operation, such as "put a/b". */
  readonly operation: string;
  /** One line. */
  readonly reason: string;
  readonly cause?: unknown;
}

export class StoreFailure extends Error {
  override readonly name = "StoreFailure";
  readonly kind: StoreFailureKind;
  readonly store: string;
  readonly operation: string;

  constructor({ kind, store, operation, reason, cause }: StoreFailureDetails) {
    super(`${store}: cannot ${operation}: ${reason}. ${NEXT_STEPS[kind]}.`, { cause });
    this.kind = kind;
    this.store = store;
    this.operation = operation;
  }
}
