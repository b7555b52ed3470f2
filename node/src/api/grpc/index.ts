export { AdminServer, type AdminServerOptions } from "./admin-server.ts";
export { type CallStatistics, INTAKE_METRICS } from "./call-intake.ts";
export { CALL_METRICS, CallObserver } from "./call-observer.ts";
export type { ErrorLog } from "./error-log.ts";
export { PublicServer, type PublicServerOptions } from "./public-server.ts";
