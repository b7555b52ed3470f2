export { callMetadata } from "./call-metadata.ts";
export { type Consistency, consistencyField, type ReadOptions, readRules } from "./consistency.ts";
export { EndableIterator } from "./endable-iterator.ts";
export { type Guard, type GuardedOptions, guardedRules, guardField } from "./guard.ts";
export { getJson, optionalTimeMs, parseJson, sendJson } from "./http-json.ts";
export { type HttpCallOptions, HttpMembers, tracedRequest } from "./http-members.ts";
export { MessageStream, openMessageStream, type StreamMethod, streamMethod } from "./message-stream.ts";
export { type CallOptions, type Execution, execute, type OperationContext, type Persistence } from "./operation.ts";
export { type Plain, toPlain } from "./plain-message.ts";
export { type SentEvent, sentEvents } from "./sent-events.ts";
export {
  type AttemptTrace,
  assertTraceparent,
  type OperationTrace,
  tracedCall,
  traceOperation,
  UNTRACED,
} from "./tracing.ts";
export { type UnaryMethod, unaryMethod } from "./unary-call.ts";
