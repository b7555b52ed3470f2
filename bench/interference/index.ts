/** What puts suffer from the upkeep of the members: snapshots to a member that is behind, and compactions. */

export { type InterferenceOptions, interferenceCommand } from "./options.ts";
export { InterferenceError, runInterference } from "./run.ts";
