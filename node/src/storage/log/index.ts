export type { LogFiles } from "./log-files.ts";
export { emptyLogMeta, type LogMeta } from "./log-meta.ts";
export type { LogStore } from "./log-store.ts";
export { openLog, tidyLog } from "./open-log.ts";
export {
  decodeSegmentHeader,
  encodeRecord,
  encodeSegmentHeader,
  LOG_DIRECTORY,
  NO_SEGMENT,
  readRecord,
  SEGMENT_HEADER_BYTES,
  sealRecord,
  segmentName,
  segmentNumber,
} from "./segment.ts";
export { SegmentLogStore } from "./segment-log-store.ts";
