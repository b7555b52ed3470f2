/** Serves the methods of the services over HTTP, by the Connect protocol. */

export { ConnectHost, type ConnectHostOptions } from "./connect-host.ts";
