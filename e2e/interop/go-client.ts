/** The client in Go, built from the module beside this file. */
import { fileURLToPath } from "node:url";
import { buildGoTool } from "../../scripts/go/index.ts";

const MODULE = fileURLToPath(new URL("go", import.meta.url));

/** The path of the client. Raises GoMissing, or what the compiler says. */
export function goClient(): Promise<string> {
  return buildGoTool("interop", MODULE, ".");
}
