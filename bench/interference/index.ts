/** The effect of members' upkeep on puts: snapshots to a lagging member, and compactions. */

export { type InterferenceOptions, interferenceCommand } from "./options.ts";
export { InterferenceError, runInterference } from "./run.ts";
