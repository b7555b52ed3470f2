export { EXIT_CODES, type ExitCode } from "./exit-code.ts";
export {
  CommandError,
  describeFailure,
  type Endpoints,
  hasOutcome,
  hasReason,
  isRefusal,
  NotAsExpectedError,
  NotFoundError,
  namingEndpoints,
} from "./failure.ts";
export { InterruptedError } from "./interrupted-error.ts";
export { UsageError } from "./usage-error.ts";
