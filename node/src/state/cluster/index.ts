export { type FormerCluster, readFormerCluster, readFormerClusters, type SuccessionCause } from "./former-clusters.ts";
export {
  applyFounding,
  DEFAULT_NAMESPACE,
  decodeFounding,
  encodeFounding,
  type Founding,
  type FoundingOwner,
} from "./founding.ts";
export type { ClaimSlotResult, MembershipResult } from "./membership.ts";
export {
  applyLeave,
  applyMembership,
  type ClaimSlot,
  changeOf,
  claimSlotOperation,
  decodeMembershipEntry,
  encodeMembershipEntry,
  MEMBERSHIP_ANSWER,
  type MembershipEntry,
  type MembershipOperation,
  refusalOfChange,
  SLOTS_MAX,
  type UpdateMember,
  updateMemberOperation,
} from "./membership.ts";
export {
  applySuccession,
  decodeSuccession,
  encodeSuccession,
  isSuccession,
  REVISION_JUMP_DEFAULT,
  revisionJumpObjection,
  type Succession,
} from "./succession.ts";
