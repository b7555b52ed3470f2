/**
 * Generates docs/reference.md and docs/backup-reference.md from the definitions in crds/. With --check it only
 * compares, and exits with 1 if a file is stale. Exits with 2 on a usage error.
 */
import { generate } from "../../scripts/generated/index.ts";
import { PLURALS, readDefinition } from "./definition.ts";
import { describeBackupReference, describeReference } from "./reference-text.ts";

const [clusters, ...backups] = PLURALS;

await generate({
  script: "operator/scripts/reference.ts",
  files: () =>
    new Map([
      ["docs/reference.md", describeReference(readDefinition(clusters))],
      ["docs/backup-reference.md", describeBackupReference(backups.map(readDefinition))],
    ]),
  complaint: "does not describe the definitions in crds/: run npm run docs:reference",
});
