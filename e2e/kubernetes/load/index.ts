/** The record of a load, for its judges. The load itself is `program.ts`, which runs in a pod, as one file. */

export { bundleLoad } from "./bundle.ts";
export { type Entry, type KeyEntry, type LockEntry, nowMs, type Progress, type Record } from "./entry.ts";
