export {
  CONVERSION_CRASH_POINTS,
  CRASH_POINTS,
  type CrashPoint,
  crashPoint,
  DAMAGE_CRASH_POINTS,
  DROP_CRASH_POINTS,
  INSTALL_CRASH_POINTS,
  SUCCESSION_CRASH_POINTS,
} from "./crash-point.ts";
export { DiskSpaceMonitor, type FileSystemSpace, measureDisk } from "./disk-space-monitor.ts";
export { createFile, DIRECTORY_MODE, FILE_MODE, replaceFile, syncDirectory, writeAll } from "./durable-file.ts";
export { damagedFiles, dropEvidence, evidenceDirectory, preserveEvidence } from "./evidence-files.ts";
export {
  encodeMirror,
  type HardStateMirror,
  isMirrorIntact,
  MIRROR_FILE,
  MIRROR_SLOT_BYTES,
  mirrorOffset,
  readMirror,
  uuidBytes,
  uuidText,
  writeMirror,
  writeMirrorSlot,
} from "./hard-state-mirror.ts";
export { ReserveFile } from "./reserve-file.ts";
export { StartFailure } from "./start-failure.ts";
export { StoreError, type StoreErrorKind } from "./store-error.ts";
export { usageOf } from "./usage.ts";
export { requireReadableLogs } from "./wal-framing.ts";
