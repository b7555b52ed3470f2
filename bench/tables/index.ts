export { markdownTable } from "./markdown.ts";
export { type ReportFiles, writeReport } from "./report-files.ts";
export { tableOf } from "./table.ts";
