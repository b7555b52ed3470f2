/**
 * Brings what follows from the definitions in crds/ up to date with them, or, with --check, says whether it is: the
 * operator's types, and what the charts have of them. Exits with 1 if not, 2 on wrong use.
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
