export { type FormerCluster, readFormerCluster, readFormerClusters, type SuccessionCause } from "./former-clusters.ts";
export {
  applyFounding,
  DEFAULT_NAMESPACE,
  decodeFounding,
  encodeFounding,
  type Founding,
  type FoundingOwner,
} from "./founding.ts";
export {
  applyClaimSlot,
  applyLeave,
  applyMembership,
  applyUpdateMember,
  type ClaimSlot,
  changeOf,
  decodeMembershipEntry,
  encodeMembershipEntry,
  type MembershipEntry,
  type MembershipOperation,
  refusalOfChange,
  SLOTS_MAX,
  type UpdateMember,
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
