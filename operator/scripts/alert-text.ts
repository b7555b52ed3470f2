/** The rules that docs/monitoring.md shows, for a Prometheus that scrapes members without the operator. */
import { Scalar, stringify } from "yaml";
import {
  type Alert,
  type AlertRule,
  ARCHIVE_ALERTS,
  alertRule,
  BACKUP_ALERTS,
  MEMBER_ALERTS,
} from "../src/render/index.ts";

/** The YAML on the page that has rules: first those of all clusters, then those of clusters with an archive. */
const RULES = /(?<=^```yaml\n)groups:\n.*?(?=^```$)/gms;
const GROUPS: ReadonlyMap<string, readonly Alert[]> = new Map([
  ["quoin", MEMBER_ALERTS],
  ["quoin-backups", [...BACKUP_ALERTS, ...ARCHIVE_ALERTS]],
]);
const LINE_WIDTH = 118;
/** Of a text beside its name. */
const TEXT_WIDTH = 80;
/** As on the page: three members, and a backup a day. */
const PLACE = {
  series: 'job="quoin"',
  pod: "instance",
  members: 3,
  seconds: 2 * 86_400,
  labels: {},
  manualUrl: "",
};

/** @returns the page with the current rules; throws an Error if it lacks a place for them */
export function withAlerts(page: string): string {
  const groups = [...GROUPS].map(([name, alerts]) => ({ name, rules: alerts.map(documentedRule) }));
  if (page.match(RULES)?.length !== groups.length) {
    throw new Error(`docs/monitoring.md needs ${groups.length} blocks of YAML that begin with groups`);
  }
  return page.replaceAll(RULES, () => stringify({ groups: [groups.shift()] }, folded, { lineWidth: LINE_WIDTH }));
}

/** A text that does not fit into a line is folded. */
function folded(_key: unknown, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= TEXT_WIDTH) {
    return value;
  }
  const scalar = new Scalar(value);
  scalar.type = Scalar.BLOCK_FOLDED;
  return scalar;
}

/** Without a duration that is the default. */
function documentedRule(alert: Alert): Omit<AlertRule, "for"> {
  const { alert: name, expr, for: duration, labels, annotations } = alertRule(alert, PLACE);
  return { alert: name, expr, ...(duration === "0m" ? {} : { for: duration }), labels, annotations };
}
