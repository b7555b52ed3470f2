export { readUint32, readUint53, writeUint32, writeUint53 } from "./binary.ts";
export { type Configuration, type ConfigurationChange, NO_CONFIGURATION } from "./configuration.ts";
export {
  type AppendEffect,
  type CoreLimits,
  type CoreOptions,
  DEFAULT_CORE_LIMITS,
  type Effects,
  RaftCore,
  type Refusal,
  type Role,
} from "./core.ts";
export {
  type Checksum,
  ENTRY_BYTES_MAX,
  ENTRY_HEADER_BYTES,
  EntryType,
  type Envelope,
  encodeEntry,
  entryEnvelope,
  entryIndex,
  entryPayload,
  entryTerm,
  entryType,
  isIntactEntry,
  NO_ENVELOPE,
  NO_ORIGIN,
  type Origin,
  sealEntry,
} from "./entry.ts";
export type { LogBounds, LogReader } from "./log.ts";
export { listenToMarks, mark } from "./mark.ts";
export { InvariantViolation, invariant, safeCount } from "./violation.ts";
