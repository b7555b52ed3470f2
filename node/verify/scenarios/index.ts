export { Chaos } from "./chaos.ts";
export { changeRow, FIT } from "./member.ts";
export { StoredLog } from "./stored-log.ts";
