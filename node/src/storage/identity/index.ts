export { FoundingRecord } from "./founding-record.ts";
export {
  createIdentity,
  type Identity,
  isClusterId,
  isIdentityDraft,
  mintIdentity,
  type RetiredPhase,
  readIdentity,
  writeIdentity,
} from "./identity.ts";
export { lostForGood, mirrorMissing, Refused, type RefusedState, retired, votesUnknown } from "./refusal.ts";
export { notSoleVoter, objectionToSoleUse } from "./sole-voter-directory.ts";
