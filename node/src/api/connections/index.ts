export {
  ADMINISTRATION_CONNECTIONS,
  type ClientLimits,
  DEFAULT_CLIENT_LIMITS,
  REQUEST_MS,
  type ScopedLimit,
} from "./client-limits.ts";
export { CONNECTION_METRICS, ConnectionLimiter, type ConnectionReports, endsOf } from "./connection-limiter.ts";
export { DescriptorBudget, descriptorLimit } from "./descriptor-budget.ts";
export { DescriptorProbe } from "./descriptor-probe.ts";
export { SparseLog, type WarningLog } from "./sparse-log.ts";
