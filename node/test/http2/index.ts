/** Shared parts of the HTTP/2 tests: frames of a client, connections to send them on, and a server to send them to. */

export { type EchoOptions, EchoServer } from "./echo-server.ts";
export * from "./frames.ts";
export { type HandlerCall, LinkedConnection, type LinkOptions } from "./linked-connection.ts";
export { RawClient } from "./raw-client.ts";
export { type ReceivedFrame, ReceivedFrames } from "./received-frames.ts";
export { GRPC_REQUEST, RequestEncoder } from "./request-encoder.ts";
