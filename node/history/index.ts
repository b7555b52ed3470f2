export {
  History,
  type KeyAnswer,
  type KeyOperation,
  type OpenOperation,
  type OperationOutcome,
  type RecordedOperation,
} from "./history.ts";
export { describeVerdict } from "./report.ts";
export { SEARCH_LIMIT_MS, searchCheck } from "./search.ts";
export type { Verdict } from "./verdict.ts";
export { witnessCheck } from "./witness.ts";
