/** Turns the API server's objects and the members' answers into the planner's input. */
export {
  CLUSTER_ID,
  CONFIG_INDEX,
  MEMBER_ID,
  OWNER_PENDING,
  RECOVERY,
  RECOVERY_ATTEMPT,
  RECOVERY_STAGE,
  REPOSITORY,
  SETTINGS,
  TERM,
  VERSION,
} from "./annotations.ts";
export { backupPlanOf, locationArgumentOf } from "./backup-store.ts";
export { type SetManifest, textsOf } from "./desired-objects.ts";
export { type DesiredWrite, durableMetadata, objectKey, preconditionOf, signed } from "./desired-write.ts";
export { noteUndone } from "./drift-correction.ts";
export { emptyMemory, type Memory } from "./memory.ts";
export { type Observation, Observer, setReference } from "./observer.ts";
export { ownerSecretName, type Reading, readCluster, readVolumes } from "./reader.ts";
export { addressesOf, adminEndpointOf, type EndpointOf } from "./reports.ts";
export { settingsNote } from "./set-view.ts";
export { holdsVolume } from "./storage-class.ts";
