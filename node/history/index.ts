export { type CountedRequest, exactlyOnceCheck } from "./exactly-once.ts";
export { EXPIRY_LATE_MS_MAX, withExpiries } from "./expiries.ts";
export {
  History,
  type KeyAnswer,
  type KeyContent,
  type KeyOperation,
  type OpenOperation,
  type OperationOutcome,
  type RecordedOperation,
} from "./history.ts";
export { judgeHistory } from "./judgement.ts";
export { contradictionOfPage, type RecordedPage, withPages } from "./pages.ts";
export { describeVerdict } from "./report.ts";
export { SEARCH_LIMIT_MS, searchCheck } from "./search.ts";
export type { Verdict } from "./verdict.ts";
export { witnessCheck } from "./witness.ts";
