export { CompactedError } from "./compacted-error.ts";
export {
  isQuoinError,
  LOST_PREFIXES,
  NEVER_SENT_PREFIXES,
  type Outcome,
  QuoinError,
  type QuoinErrorCode,
  type QuoinErrorFields,
} from "./quoin-error.ts";
export { isQuoinReason, type QuoinReason, quoinReasons } from "./reasons.ts";
