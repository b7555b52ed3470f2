/** Shared parts of this package's tests. */

export { backupErrorOf, codeOf } from "./rejection.ts";
export {
  CLUSTER,
  chunked,
  collect,
  entriesOf,
  flatten,
  flipped,
  OTHER_CLUSTER,
  type Previous,
  rowsOf,
  START_MS,
  segmentBytes,
  segmentHeader,
  snapshotBytes,
  snapshotHeader,
  termOf,
} from "./samples.ts";
