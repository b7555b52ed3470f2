/**
 * Clients in another language, at a cluster of three: Python on grpcio, with stubs that are generated from proto/ for
 * the run, and Python on its standard library over HTTP. Without Python they are skipped, with the reason.
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { LocalConformanceCluster } from "../../node/verify/conformance/index.ts";
import { temporaryDirectory } from "../../testing/index.ts";
import { PythonMissing, pythonEnvironment } from "../python/index.ts";

const PROTO = fileURLToPath(new URL("../../proto/", import.meta.url));
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
const CLIENT = fileURLToPath(new URL("interop.py", import.meta.url));
const HTTP_CLIENT = fileURLToPath(new URL("interop_http.py", import.meta.url));
const FILES = ["types", "key_value", "lock", "memory", "event_log", "transaction", "watch", "cluster"].map(
  (name) => `coordination/v1/${name}.proto`,
);
/** The first run makes an environment and downloads packages into it. */
const START_LIMIT_MS = 300_000;
const SCENARIOS = [
  "put",
  "compare-and-swap",
  "lock",
  "semaphore",
  "memory",
  "transaction",
  "watch",
  "watch-locks",
  "in-flight",
];
const HTTP_SCENARIOS = ["token-exchange", "keys", "logs", "append", "append-batch", "usage", "follow"];

const execute = promisify(execFile);

describe("a client in Python, at a cluster of three members", function () {
  this.timeout(START_LIMIT_MS);
  let stubs: string;
  let python: string;
  let cluster: LocalConformanceCluster | undefined;
  let endpoints: readonly string[];
  let httpEndpoints: readonly string[];
  let environment: NodeJS.ProcessEnv;

  before(async function () {
    stubs = temporaryDirectory();
    try {
      python = await pythonEnvironment(REQUIREMENTS);
    } catch (error) {
      if (!(error instanceof PythonMissing)) {
        throw error;
      }
      console.log(`skipped: ${error.message}`);
      this.skip();
    }
    const outputs = [`--python_out=${stubs}`, `--grpc_python_out=${stubs}`];
    await execute(python, ["-m", "grpc_tools.protoc", `--proto_path=${PROTO}`, ...outputs, ...FILES]);
    cluster = await LocalConformanceCluster.start();
    const { token, endpoints: members, httpEndpoints: httpMembers } = await cluster.target();
    [endpoints, httpEndpoints] = [members, httpMembers];
    environment = { ...process.env, PYTHONPATH: stubs, PYTHONDONTWRITEBYTECODE: "1", QUOIN_TOKEN: token };
    environment.QUOIN_API_KEY = cluster.apiKey;
  });

  after(() => cluster?.remove());

  for (const scenario of SCENARIOS) {
    it(`plays the scenario ${scenario}, each call through another member`, async () => {
      await execute(python, [CLIENT, scenario, ...endpoints], { env: environment });
    });
  }

  for (const scenario of HTTP_SCENARIOS) {
    it(`plays the scenario ${scenario} over HTTP, each request at another member`, async () => {
      await execute(python, [HTTP_CLIENT, scenario, ...httpEndpoints], { env: environment });
    });
  }
});
