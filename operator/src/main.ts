/** Starts the operator: reads the configuration, wires the parts, and ends them in order. It does nothing else. */
import { createRequire } from "node:module";
import { planCertificates } from "./certificates/index.ts";
import { parseConfiguration } from "./configuration.ts";
import { Operator } from "./controller/index.ts";
import { defaultConnection, systemTiming } from "./kube/index.ts";
import { adminEndpointOf } from "./observe/index.ts";
import { createLogger } from "./telemetry/index.ts";

// Without a listener, Node opens its debugger at this signal.
process.on("SIGUSR1", () => undefined);
const { version } = createRequire(import.meta.url)("../package.json") as { version: string };
const configuration = parseConfiguration(process.argv.slice(2), version);
const logger = createLogger(configuration.logLevel, configuration.instance);
logger.info({ version, node: process.version, configuration }, "starting");

const connection = await defaultConnection();
const { instance, leaseName, watchNamespaces, namespace, clusterDomain, manualUrl, health } = configuration;
const operator = new Operator({
  connection,
  instance,
  leaseName,
  watchNamespaces,
  planCertificates,
  logger,
  settings: { operatorNamespace: namespace, clusterDomain, manualUrl },
  defaults: { version: configuration.memberVersion, repository: configuration.memberRepository },
  endpointOf: adminEndpointOf,
  timing: systemTiming,
});

let stopped = Promise.resolve();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.once(signal, () => {
    logger.info({ signal }, "stopping");
    stopped = operator.stop();
  });
}
await operator.listen(health.host, health.port);
if ((await operator.run()) === "lost") {
  logger.error("lost the Lease: another operator may be active now");
  process.exit(1);
}
await stopped;
await connection.close();
logger.info("stopped");
// A gRPC channel that is closed while it connects keeps its socket until the attempt fails. If the machine is gone,
// that takes half a minute and would keep this process alive.
process.exit();
