/**
 * Local rows of a state store: they belong to this copy, and no member sends them to another.
 *
 * The tables of the replicated state are letters up to `x`; all later keys are local.
 */

/** First local key: no snapshot contains it or any key after it. */
export const LOCAL_ROWS_FROM = new Uint8Array([0x79]);

/** Written by each sync; its value only has to change. */
export const SYNC_ROW = new Uint8Array([0x79]); // y

/** Table of the milestones. */
export const MARKER_TABLE = 0x7a; // z

/** The snapshot that the state began as. */
export const SNAPSHOT_ORIGIN_ROW = new Uint8Array([0x7b]); // {
