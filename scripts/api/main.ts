/**
 * Generates the pages of docs/api from the contract in proto/, from docs/api/openapi.json, and from the examples. With
 * --check it only compares, and exits with 1 if a page is stale or a method has no example. Exits with 2 on wrong use.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import { generate } from "../generated/index.ts";
import { readContract } from "./contract.ts";
import { grpcPages } from "./grpc-pages.ts";
import { httpPages, type OpenApiDocument } from "./http-pages.ts";
import { overviewPage } from "./overview.ts";

const OPENAPI = path.resolve(import.meta.dirname, "../../docs/api/openapi.json");

await generate({
  script: "scripts/api/main.ts",
  files: async () => {
    const contract = await readContract();
    const document: OpenApiDocument = JSON.parse(readFileSync(OPENAPI, "utf8"));
    const pages = [
      ["README", overviewPage(contract, document)] as const,
      ...grpcPages(contract),
      ...httpPages(document),
    ];
    return new Map(pages.map(([name, text]) => [`docs/api/${name}.md`, text]));
  },
  complaint: "does not describe the present interface: run npm run docs:api",
});
