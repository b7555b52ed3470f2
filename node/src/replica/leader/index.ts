export { Handover } from "./handover.ts";
export { LeaderCalls } from "./leader-calls.ts";
export { LeaderMaintenance } from "./leader-maintenance.ts";
export type {
  ArchiveReport,
  MemberHealth,
  MembershipView,
  MembershipViewDone,
  TransferDone,
} from "./membership-view.ts";
