export { MemberCalls } from "./member-calls.ts";
export { Replica } from "./replica.ts";
export type { PeerReport, Readiness } from "./replica-report.ts";
