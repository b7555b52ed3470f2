/** Renders a CoordinationCluster into its objects. */
export { type Alert, type AlertRule, ARCHIVE_ALERTS, alertRule, BACKUP_ALERTS, MEMBER_ALERTS } from "./alerts/index.ts";
export {
  type BackupPlan,
  CA_FILE,
  CREDENTIALS_FILE,
  durationMsOf,
  KEYS_FILE,
  LOCATION_FLAG,
  locationOf,
  NO_STORES,
  RESTORE_FLAG,
  type RestorePlan,
  restoreLocationArgument,
} from "./backup.ts";
export { dnsNamesOf } from "./certificate.ts";
export { labelsOf, metadataOf, namesOf, namespaceOf, PORTS, peerDomainOf, ROLE_LABEL, selectorOf } from "./names.ts";
export { OverlayError } from "./overlay.ts";
export { renderPodTemplate, templateHashOf } from "./pod-template.ts";
export {
  ordinalOfRecoveryPod,
  RECOVERY_LABEL,
  type RecoveryWork,
  recoveryPodName,
  renderRecoveryPod,
} from "./recovery-pod.ts";
export { type Manifest, type Placement, render, type Settings } from "./render.ts";
export { notedSourceOf, notedStoreOf, RESTARTED_AT, type RestoreSource } from "./stateful-set.ts";
export { renderBudget } from "./support-objects.ts";
