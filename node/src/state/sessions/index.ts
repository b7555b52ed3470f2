export type {
  CreateSession,
  CreateSessionResult,
  Renewal,
  RenewedSession,
  RenewSessions,
  RenewSessionsResult,
} from "./session-commands.ts";
export {
  type Belonging,
  changeBelonging,
  dueSessions,
  namespaceSessions,
  ownedHolds,
  readSession,
  removeSession,
  requireOwnSession,
  requireRoom,
  requireSession,
  type Session,
  type Thing,
  thingsOf,
} from "./session-rows.ts";
export {
  createSessionOperation,
  describeSession,
  listSessions,
  renewSessionsOperation,
  type SessionPage,
} from "./sessions.ts";
