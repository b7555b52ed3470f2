/** The client in Go, built from the module in this folder. */
import { fileURLToPath } from "node:url";
import { buildGoTool } from "../../scripts/go/index.ts";

const MODULE = fileURLToPath(new URL("go", import.meta.url));

/**
 * The path of the client.
 * @throws GoMissing, or an error with the compiler's message
 */
export function goClient(): Promise<string> {
  return buildGoTool({ name: "interop", module: MODULE });
}
