/**
 * `npm run package -- --out DIRECTORY`: builds everything that is published.
 *
 * - `quoin-VERSION.tgz`, the server with its launcher and quoinctl
 * - `quoin-client-VERSION.tgz`, the SDK and quoinctl
 * - `charts/`, the Helm charts as archives, with an index, and as an image layout in `charts/oci/`
 * - with `--executable`, `quoinctl-PLATFORM`, quoinctl as one file that needs no Node
 */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { repositoryRoot } from "../bundle/index.ts";
import { packCharts } from "./charts.ts";
import { buildExecutable } from "./executable.ts";
import { packServer } from "./server-package.ts";

const USAGE = "usage: npm run package -- [--out DIRECTORY] [--executable]";

const values = readOptions();

/** Ends the process if there is nothing to build. */
function readOptions() {
  const options = {
    out: { type: "string", default: "dist/packages" },
    executable: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  } as const;
  let given: ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];
  try {
    given = parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
  if (given.help) {
    console.log(USAGE);
    process.exit(0);
  }
  return given;
}

const destination = path.resolve(values.out);
mkdirSync(destination, { recursive: true });
const client = path.join(repositoryRoot, "client/scripts/package.ts");
execFileSync(process.execPath, [client, "--out", destination], { stdio: "inherit" });
const written = [
  await packServer(destination),
  ...(await packCharts(path.join(destination, "charts"))),
  ...(values.executable ? [await buildExecutable(destination)] : []),
];
for (const file of written) {
  console.log(path.relative(process.cwd(), file));
}
