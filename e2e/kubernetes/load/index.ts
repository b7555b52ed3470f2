/** The record of a load, for its judges. The load itself is `program.ts`, which runs in a pod. */

export { type Entry, type KeyEntry, type LockEntry, nowMs, type Progress, type Record } from "./entry.ts";
