/** `npm start`: a cluster on this machine, until Ctrl-C. */

import { UsageError } from "../src/command-line/index.ts";
import { LocalCluster } from "./local-cluster.ts";
import { type LocalOptions, parseOptions } from "./options.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function run(options: LocalOptions): Promise<void> {
  const interrupted = new Promise<"interrupted">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => resolve("interrupted"));
    }
  });
  console.log("Starting a cluster of one member ...");
  const cluster = await LocalCluster.start(options);
  try {
    console.log(greeting(cluster, options));
    console.log("Quoin is ready");
    await Promise.race([interrupted, cluster.untilFailed()]);
    console.log("\nStopping ...");
  } finally {
    await cluster.stop();
  }
}

/** Where quoinctl looks by itself. */
const DATA_DIRECTORY_DEFAULT = ".quoin";

function greeting({ endpoints, endpointsFile, memberPid }: LocalCluster, options: LocalOptions): string {
  const { owner, apiKey } = endpoints;
  const elsewhere = options.dataDirectory === DATA_DIRECTORY_DEFAULT ? "" : `QUOIN_ENDPOINTS_FILE=${endpointsFile} `;
  return `
  Member    q-0, process ${memberPid}
  gRPC      ${endpoints.grpc.join(", ")}
  HTTP      ${endpoints.http.join(", ")}
  Owner     ${owner.email}, password ${owner.password}
  API key   ${apiKey}
  (also in ${endpointsFile})

Try, in another shell:
  ${elsewhere}npx quoinctl kv put default/greeting hello
  ${elsewhere}npx quoinctl kv get default/greeting
  ${elsewhere}npx quoinctl status

Data is kept in ${options.dataDirectory}. Ctrl-C stops the cluster.
`;
}

let options: LocalOptions | null = null;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  console.error(`npm start: ${error.message}\nSee npm start -- --help`);
  process.exitCode = EXIT_USAGE;
}
if (options !== null) {
  try {
    await run(options);
  } catch (error) {
    console.error(`npm start: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = EXIT_FAILED;
  }
}
