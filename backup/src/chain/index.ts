/**
 * The objects of a cluster in a store: their names, how they follow each other, and the points that they can restore.
 */

export {
  type Catalog,
  type CatalogProblem,
  type CatalogProblemKind,
  catalogOf,
  listClusters,
  readCatalog,
} from "./catalog.ts";
export { type Chain, type ChainEnd, furthestChain } from "./chain.ts";
export { type ChainObjects, type ChainPart, readChain } from "./chain-reader.ts";
export {
  type ChainVerification,
  type VerificationProgress,
  type VerifyOptions,
  verifyChain,
} from "./chain-verification.ts";
export { type Hint, putHint, readHint } from "./hint.ts";
export {
  parseObjectName,
  type SegmentName,
  type SnapshotName,
  type StoredSegment,
  type StoredSnapshot,
  segmentName,
  snapshotName,
} from "./object-name.ts";
export { planRestore, type RestorePlan, type RestorePoint } from "./restore-plan.ts";
export { deletePlanned, planDeletion, planRetention, type RetentionPlan, type RetentionPolicy } from "./retention.ts";
export { SnapshotFile } from "./snapshot-file.ts";
export { openSegment, openSnapshot, type PutObject, putSegment, putSnapshot } from "./stored-objects.ts";
