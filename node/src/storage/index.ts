export {
  CRASH_POINTS,
  type CrashPoint,
  DAMAGE_CRASH_POINTS,
  INSTALL_CRASH_POINTS,
  SUCCESSION_CRASH_POINTS,
} from "./crash-point.ts";
export { type DataDirectory, type DataDirectoryOptions, openDataDirectory } from "./data-directory.ts";
export { DiskSpaceMonitor, type FileSystemSpace, measureDisk } from "./disk-space-monitor.ts";
export { replaceFile } from "./durable-file.ts";
export { FoundingRecord } from "./founding-record.ts";
export { createIdentity, type Identity, isClusterId, mintIdentity } from "./identity.ts";
export { LOCAL_ROWS_FROM } from "./local-rows.ts";
export type { LogStore } from "./log-store.ts";
export type { MemberData } from "./member-data.ts";
export type { FillRestoration } from "./member-restore.ts";
export type { MemberStateStore, StateReplacement, StateView } from "./member-state-store.ts";
export { OfflineState } from "./offline-state.ts";
export { requireLostVoters, stageRecovery } from "./recovery.ts";
export { Refused, type RefusedState } from "./refusal.ts";
export { ReserveFile } from "./reserve-file.ts";
export { Restoration } from "./restoration.ts";
export { Rocks } from "./rocks.ts";
export { notSoleVoter, objectionToSoleUse } from "./sole-voter-directory.ts";
export { isFurther, type MemberFacts, requireMemberData, StoppedMember } from "./stopped-member.ts";
export { StoreError, type StoreErrorKind } from "./store-error.ts";
export type { StagedSuccessor, SuccessorMember, SuccessorPlan } from "./successor.ts";
export {
  completeRestoration,
  formerDirectory,
  placeSuccessor,
  requireUnused,
  unfinishedSuccession,
  withSuccessionLock,
} from "./successor-directory.ts";
export { usageOf } from "./usage.ts";
export { StateWriteBuffer, type WriteBufferLimits } from "./write-buffer.ts";
