/**
 * Generates the operator's types and the charts' copies and schema from the definitions in crds/. With --check it only
 * compares, and exits with 1 if a file is stale. Exits with 2 on a usage error.
 */
import { generate } from "../../scripts/generated/index.ts";
import { describeValues } from "./chart-schema.ts";
import { definitionFile, definitionText, PLURALS, readDefinition, schemaOf } from "./definition.ts";
import { describeTypes, typesFile } from "./types.ts";

await generate({
  script: "operator/scripts/generate.ts",
  files: async () => {
    const files = new Map([["charts/quoin-cluster/values.schema.json", describeValues(schemaOf(readDefinition()))]]);
    for (const plural of PLURALS) {
      files.set(`operator/src/generated/${typesFile(plural)}`, await describeTypes(plural));
      files.set(`charts/quoin-operator/files/${definitionFile(plural)}`, definitionText(plural));
    }
    return files;
  },
  complaint: "does not fit the definitions in crds/: run npm run crds:generate",
});
