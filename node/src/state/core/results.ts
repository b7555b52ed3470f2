/**
 * The results of operations: what an answer contains if the command was not refused. Each feature declares its own beside
 * its operations, and adds them here by their kind.
 */

/** Those that are stored unchanged for retries. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface StoredResults {}

/** Those that are not; the stored row of an acquisition is its state instead. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface UnstoredResults {}

export type StoredResult = StoredResults[keyof StoredResults];

export type Result = StoredResult | UnstoredResults[keyof UnstoredResults];
