/** The gRPC ports of a member: their services, and the authentication of their callers. */

export { AdminServer, type AdminServerOptions } from "./admin-server.ts";
export { PublicServer, type PublicServerOptions } from "./public-server.ts";
