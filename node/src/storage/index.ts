export {
  CRASH_POINTS,
  type CrashPoint,
  DAMAGE_CRASH_POINTS,
  DiskSpaceMonitor,
  type FileSystemSpace,
  INSTALL_CRASH_POINTS,
  measureDisk,
  ReserveFile,
  replaceFile,
  StoreError,
  type StoreErrorKind,
  SUCCESSION_CRASH_POINTS,
  usageOf,
} from "./files/index.ts";
export {
  createIdentity,
  FoundingRecord,
  type Identity,
  isClusterId,
  mintIdentity,
  notSoleVoter,
  objectionToSoleUse,
  Refused,
  type RefusedState,
} from "./identity/index.ts";
export type { LogStore } from "./log/index.ts";
export {
  type DataDirectory,
  type DataDirectoryOptions,
  type FillRestoration,
  type MemberData,
  openDataDirectory,
} from "./member/index.ts";
export {
  completeRestoration,
  formerDirectory,
  isFurther,
  type MemberFacts,
  placeSuccessor,
  Restoration,
  requireLostVoters,
  requireMemberData,
  requireUnused,
  type StagedSuccessor,
  StoppedMember,
  type SuccessorMember,
  type SuccessorPlan,
  stageRecovery,
  unfinishedSuccession,
  withSuccessionLock,
} from "./recovery/index.ts";
export { Rocks } from "./rocks/index.ts";
export {
  LOCAL_ROWS_FROM,
  type MemberStateStore,
  OfflineState,
  type StateReplacement,
  type StateView,
  StateWriteBuffer,
  type WriteBufferLimits,
} from "./state/index.ts";
