/**
 * Brings docs/reference.md and docs/backup-reference.md up to date with the definitions in crds/, or, with --check, says
 * whether they are. Exits with 1 if not, 2 on wrong use.
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
