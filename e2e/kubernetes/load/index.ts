/** What a load writes down, for those who judge it. The load itself is `program.ts`, which runs in a pod. */

export { type Entry, type KeyEntry, type LockEntry, nowMs, type Progress, type Record } from "./entry.ts";
