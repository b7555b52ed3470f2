export { archiveHistory, type History, indexAt, numbersOf } from "./archived-history.ts";
