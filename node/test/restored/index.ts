export { archiveHistory, type History, indexAt, numbersOf } from "./archived-history.ts";
export { countRecordedDigests } from "./recorded-digests.ts";
