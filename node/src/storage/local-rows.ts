/**
 * Rows of a state store that belong to this one copy: no member sends them to another.
 *
 * The tables of the replicated state are letters up to `x`; everything from here on is the store's own.
 */

/** First key that is no part of the replicated state: no snapshot has it, or any after it. */
export const LOCAL_ROWS_FROM = new Uint8Array([0x79]);

/** Written by each sync; its value only has to change. */
export const SYNC_ROW = new Uint8Array([0x79]); // y

/** Table of the milestones. */
export const MILESTONE_TABLE = 0x7a; // z

/** Which snapshot the state began as. */
export const INSTALLED_ROW = new Uint8Array([0x7b]); // {
