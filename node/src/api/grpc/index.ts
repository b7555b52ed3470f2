export { AdminServer, type AdminServerOptions } from "./admin-server.ts";
export type { ErrorLog } from "./error-log.ts";
export { PublicServer, type PublicServerOptions } from "./public-server.ts";
