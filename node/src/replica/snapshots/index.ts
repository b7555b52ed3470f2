export { DEFAULT_SNAPSHOT_LIMITS, SNAPSHOT_FORMAT } from "./outgoing-snapshots.ts";
export { ReplicaBackups } from "./replica-backups.ts";
export { Snapshots } from "./snapshots.ts";
export { StateExport, StateExportEnded } from "./state-exports.ts";
