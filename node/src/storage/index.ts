export { CRASH_POINTS, type CrashPoint } from "./crash-point.ts";
export { type DataDirectory, type DataDirectoryOptions, type MemberData, openDataDirectory } from "./data-directory.ts";
export { replaceFile } from "./durable-file.ts";
export type { Identity } from "./identity.ts";
export type { LogStore } from "./log-store.ts";
export { StoreError, type StoreErrorKind } from "./store-error.ts";
export { usageOf } from "./usage.ts";
