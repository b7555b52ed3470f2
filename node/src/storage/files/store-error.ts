/**
 * A failure of a store or its files. It is never retried: a failed write or sync may have lost data, and a later one
 * would silently skip it (P32). So the process ends, and the next start judges the data.
 */

export type StoreErrorKind =
  /** Another process has the directory open. */
  | "locked"
  /** The store does not exist. */
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
