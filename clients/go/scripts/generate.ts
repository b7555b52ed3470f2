/** Writes the generated files of the Go SDK. Needs Go. */

import { rmSync } from "node:fs";
import path from "node:path";
import { deriveGoCode, GENERATED_FOLDER, GO_MODULE_FOLDER } from "./generated-code.ts";

rmSync(path.join(GO_MODULE_FOLDER, GENERATED_FOLDER), { recursive: true, force: true });
await deriveGoCode(GO_MODULE_FOLDER);
