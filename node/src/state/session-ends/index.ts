export type { EndSession, EndSessionResult, ExpireSessions } from "./session-end-commands.ts";
export { endSessionOperation, expireSessionsOperation } from "./session-ends.ts";
