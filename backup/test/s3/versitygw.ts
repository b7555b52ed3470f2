/** versitygw, an S3 server in Go that keeps objects in a directory. It is built from the module beside this file. */

import { fileURLToPath } from "node:url";
import { buildGoTool } from "../../../scripts/go/index.ts";

const MODULE = fileURLToPath(new URL("versitygw", import.meta.url));

/** The path of the program. Raises GoMissing; any other error comes from Go, with its output. */
export function buildVersitygw(): Promise<string> {
  const source = "github.com/versity/versitygw/cmd/versitygw";
  return buildGoTool({ name: "versitygw", module: MODULE, package: source });
}
