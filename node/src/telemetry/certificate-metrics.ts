/** Metrics of the certificates that a member shows: when somebody has to have renewed them. */

import { gauge, type Metric } from "./metric.ts";

const MS_PER_SECOND = 1000;

export interface ShownCertificates {
  readonly wallMs: () => number;
  /** When each is over, on the wall clock, by to whom it is shown; null where that is none. */
  readonly expiresMs: Readonly<Record<"members" | "clients", () => number | null>>;
}

export const CERTIFICATE_METRICS: readonly Metric<ShownCertificates>[] = [
  gauge({
    name: "quoin_certificate_expiry_seconds",
    help: "Time until the certificate is over that the member shows now; it reads renewed files by itself.",
    labels: ["shown_to"],
    read: ({ wallMs, expiresMs }) =>
      Object.entries(expiresMs).flatMap(([shownTo, read]) => {
        const endMs = read();
        return endMs === null ? [] : [[[shownTo], (endMs - wallMs()) / MS_PER_SECOND] as const];
      }),
  }),
];
