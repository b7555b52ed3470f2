/** Rules of Prometheus from alerts. */
import type { Alert } from "./member-alerts.ts";

/** What stands for the names in the texts of alerts. */
export interface Place {
  /** Labels that select the members of the cluster. */
  readonly series: string;
  /** Label that names a member. */
  readonly pod: string;
  readonly members: number;
  /** Two intervals of the backups; 0 without an archive. */
  readonly seconds: number;
  /** Further labels of each alert. */
  readonly labels: Readonly<Record<string, string>>;
  /** Address of the manual, without a slash at the end; empty = none, so alerts have no link. */
  readonly manualUrl: string;
}

/** A rule in the form that Prometheus reads. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function alertRule(alert: Alert, { series, pod, members, seconds, labels, manualUrl }: Place): AlertRule {
  const filled = (text: string): string =>
    text
      .replaceAll("SERIES", series)
      .replaceAll(/\bPOD\b/g, pod)
      .replaceAll(/\bMEMBERS\b/g, String(members))
      .replaceAll("SECONDS", String(seconds));
  return {
    alert: alert.name,
    expr: filled(alert.when),
    for: alert.for,
    labels: { severity: alert.severity, ...labels },
    annotations: {
      summary: filled(alert.summary),
      description: filled(alert.description),
      ...(manualUrl === "" ? {} : { runbook_url: `${manualUrl}/${alert.runbook.replace(".md", ".html")}` }),
    },
  };
}
