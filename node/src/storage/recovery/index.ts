export { describeLoss, markDamaged, noteCorruption, quarantine, SUSPECT_LOG, SUSPECT_STATE } from "./damage.ts";
export { requireLostVoters, stageRecovery } from "./recovery.ts";
export { Restoration } from "./restoration.ts";
export {
  catchDamage,
  planStartupRecovery,
  type ReadResult,
  type StartupRecoveryInput,
  type StartupRecoveryPlan,
} from "./startup-recovery-plan.ts";
export { isFurther, type MemberFacts, requireMemberData, StoppedMember } from "./stopped-member.ts";
export type { StagedSuccessor, SuccessorMember, SuccessorPlan } from "./successor.ts";
export {
  completeRestoration,
  formerDirectory,
  placeSuccessor,
  removeSuccessionLock,
  requireUnused,
  SUCCESSION_LOCK,
  unfinishedSuccession,
  withSuccessionLock,
} from "./successor-directory.ts";
