/**
 * Generates docs/reference.md and docs/backup-reference.md from the definitions in crds/, and the rules in
 * docs/monitoring.md from the operator's alerts. With --check it only compares, and exits with 1 if a file is stale.
 * Exits with 2 on a usage error.
 */
import { readFileSync } from "node:fs";
import { generate } from "../../scripts/generated/index.ts";
import { withAlerts } from "./alert-text.ts";
import { PLURALS, readDefinition } from "./definition.ts";
import { describeBackupReference, describeReference } from "./reference-text.ts";

const MONITORING = new URL("../../docs/monitoring.md", import.meta.url);
const [clusters, ...backups] = PLURALS;

await generate({
  script: "operator/scripts/reference.ts",
  files: () =>
    new Map([
      ["docs/reference.md", describeReference(readDefinition(clusters))],
      ["docs/backup-reference.md", describeBackupReference(backups.map(readDefinition))],
      ["docs/monitoring.md", withAlerts(readFileSync(MONITORING, "utf8"))],
    ]),
  complaint:
    "does not describe the definitions in crds/ and the alerts in operator/src/render/alerts: run npm run docs:reference",
});
