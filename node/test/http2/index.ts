/** What tests of HTTP/2 share: frames of a client, and connections on which they are sent. */

export * from "./frames.ts";
export { type HandlerCall, LinkedConnection, type LinkOptions } from "./linked-connection.ts";
export { type ReceivedFrame, ReceivedFrames } from "./received-frames.ts";
export { GRPC_REQUEST, RequestEncoder } from "./request-encoder.ts";
