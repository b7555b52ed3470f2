/**
 * Brings docs/reference.md up to date with the definition of CoordinationCluster, or, with --check, says whether it is.
 * Exits with 1 if not, 2 on wrong use.
 */
import { generate } from "../../scripts/generated/index.ts";
import { readDefinition } from "./definition.ts";
import { describeReference } from "./reference-text.ts";

await generate({
  script: "operator/scripts/reference.ts",
  files: () => new Map([["docs/reference.md", describeReference(readDefinition())]]),
  complaint: "does not describe the definition in crds/: run npm run docs:reference",
});
