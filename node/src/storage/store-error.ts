/**
 * What went wrong with a store or its files. None of it is retried: a failed write or sync may have lost data that a
 * later one would silently step over (P32), so the process ends and the next start judges what is there.
 */

export type StoreErrorKind =
  /** Another process has the directory open. */
  | "locked"
  /** The store is not there. */
  | "missing"
  /** The store's own checksums or structure are wrong. */
  | "corruption"
  /** Anything else: reading or writing failed. */
  | "io";

export class StoreError extends Error {
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}
