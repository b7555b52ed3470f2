/** The gRPC ports of a member: which services they have, and who may use them. */

export { AdminServer, type AdminServerOptions } from "./admin-server.ts";
export { PublicServer, type PublicServerOptions } from "./public-server.ts";
