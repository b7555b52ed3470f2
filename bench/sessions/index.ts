/** `npm run bench -- sessions`: many sessions that are renewed, that outlive elections, and that end together. */

export { type SessionsOptions, sessionsCommand } from "./options.ts";
export { runSessions, SessionsError } from "./run.ts";
