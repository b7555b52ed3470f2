export { tableOf } from "./table.ts";
