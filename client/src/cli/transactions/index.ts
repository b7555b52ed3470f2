export { TRANSACTION } from "./txn-command.ts";
