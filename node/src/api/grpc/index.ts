export { AdminServer, type AdminServerOptions } from "./admin-server.ts";
export { PublicServer, type PublicServerOptions } from "./public-server.ts";
export { REQUEST_BYTES_MAX } from "./server.ts";
