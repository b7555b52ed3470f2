/** Metrics of a member's certificates: how long until each one expires. */

import { gauge, type Metric } from "./metric.ts";

const MS_PER_SECOND = 1000;

export interface ShownCertificates {
  readonly wallMs: () => number;
  /** Expiry of the certificate for members and for clients, on the wall clock; null without one. */
  readonly expiresMs: Readonly<Record<"members" | "clients", () => number | null>>;
}

export const CERTIFICATE_METRICS: readonly Metric<ShownCertificates>[] = [
  gauge({
    name: "quoin_certificate_expiry_seconds",
    help: "Time until the member's current certificate expires; the member reads renewed files by itself.",
    labels: ["shown_to"],
    read: ({ wallMs, expiresMs }) =>
      Object.entries(expiresMs).flatMap(([shownTo, read]) => {
        const endMs = read();
        return endMs === null ? [] : [[[shownTo], (endMs - wallMs()) / MS_PER_SECOND] as const];
      }),
  }),
];
