export type { SessionHandle } from "./session-handle.ts";
export type {
  CreateSessionOptions,
  CreateSessionResult,
  DescribeSessionResult,
  EndSessionOptions,
  EndSessionResult,
  ListSessionsOptions,
  RenewedSession,
  SessionInfo,
  SessionPage,
} from "./session-messages.ts";
export { SessionClient } from "./sessions.ts";
