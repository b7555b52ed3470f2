/**
 * Brings what follows from the definition of CoordinationCluster up to date with it, or, with --check, says whether it is:
 * the operator's types, and what the charts have of it. Exits with 1 if not, 2 on wrong use.
 */
import { generate } from "../../scripts/generated/index.ts";
import { describeValues } from "./chart-schema.ts";
import { definitionText, readDefinition, schemaOf } from "./definition.ts";
import { describeTypes } from "./types.ts";

const schema = schemaOf(readDefinition());
await generate({
  script: "operator/scripts/generate.ts",
  files: async () =>
    new Map([
      ["operator/src/generated/coordination-cluster.ts", await describeTypes(schema)],
      ["charts/quoin-operator/files/quoin.dev_coordinationclusters.yaml", definitionText()],
      ["charts/quoin-cluster/values.schema.json", describeValues(schema)],
    ]),
  complaint: "does not fit the definition in crds/: run npm run crds:generate",
});
