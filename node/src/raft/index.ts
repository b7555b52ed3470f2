export {
  type ChangeRefusal,
  type Configuration,
  type ConfigurationChange,
  changeConfiguration,
  isJoint,
  members,
  NO_CONFIGURATION,
} from "./configuration.ts";
export {
  type AppendEffect,
  type ChangeProposalRefusal,
  type CoreOptions,
  type Effects,
  type MemberEligibility,
  type Proposed,
  RaftCore,
  type Refusal,
} from "./core.ts";
export type { Role } from "./election.ts";
export {
  type Checksum,
  ENTRY_BYTES_MAX,
  ENTRY_HEADER_BYTES,
  EntryType,
  type Envelope,
  encodeEntry,
  entryEnvelope,
  entryIndex,
  entryOrigin,
  entryPayload,
  entryTerm,
  entryTickMs,
  entryType,
  entryWallMs,
  isConfigurationType,
  isIntactEntry,
  NO_ENVELOPE,
  NO_PROPOSAL_ORIGIN,
  type ProposalOrigin,
  sealEntry,
} from "./entry.ts";
export type { LogReset, OfferVerdict, SnapshotOffer } from "./install.ts";
export type { ProposedChange } from "./leadership.ts";
export { type CoreLimits, DEFAULT_CORE_LIMITS } from "./limits.ts";
export type { LogBounds, LogReader } from "./log.ts";
export type { Message } from "./message.ts";
export type { Progress, ProgressState } from "./progress.ts";
export type { TransferRefusal } from "./transfer.ts";
