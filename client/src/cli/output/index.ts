export { entryDocument, historyDocument, previousDocument } from "./key-document.ts";
export {
  type Cell,
  OUTPUT_FORMATS,
  type OutputFormat,
  printResult,
  type Result,
  streamFormatter,
  type TableContent,
} from "./output.ts";
export { ProgressLine, type ProgressPlace, showsProgress, withProgressLine } from "./progress-line.ts";
export { bar, withTransferProgress } from "./transfer-progress.ts";
