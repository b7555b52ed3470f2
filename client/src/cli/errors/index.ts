export {
  CommandError,
  EXIT_CODES,
  type ExitCode,
  InterruptedError,
  NotAsExpectedError,
  NotFoundError,
  UsageError,
} from "./command-error.ts";
export { describeFailure, type Endpoints, hasOutcome, hasReason, isRefusal, namingEndpoints } from "./failure.ts";
