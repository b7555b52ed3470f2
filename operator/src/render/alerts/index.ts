/** Alerts about clusters, for any Prometheus. */
export { type Alert, ARCHIVE_ALERTS, BACKUP_ALERTS, MEMBER_ALERTS } from "./member-alerts.ts";
export { type AlertRule, alertRule, type Place } from "./rules.ts";
