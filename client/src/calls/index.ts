export { callMetadata } from "./call-metadata.ts";
export { type Consistency, consistencyField, type ReadOptions, readRules } from "./consistency.ts";
export { ContinuedStream } from "./continued-stream.ts";
export { EndableIterator } from "./endable-iterator.ts";
export {
  type Guard,
  type GuardedOptions,
  guardedRules,
  guardedRulesWithoutRequestId,
  guardField,
  type SessionGuard,
} from "./guard.ts";
export { MessageStream, openMessageStream, type StreamMethod, streamMethod } from "./message-stream.ts";
export { type CallOptions, type Execution, execute, type OperationContext, type Persistence } from "./operation.ts";
export { type Plain, toPlain } from "./plain-message.ts";
export { watchReads } from "./timely-signal.ts";
export {
  type AttemptTrace,
  assertTraceparent,
  type OperationTrace,
  tracedCall,
  traceOperation,
} from "./tracing.ts";
export { type UnaryMethod, unaryMethod } from "./unary-call.ts";
