/** Command line of the operator: flags, checked before anything else happens. It holds no secrets. */
import { Command, InvalidArgumentError, Option } from "commander";
import { EVERY_ADDRESS, LOG_LEVELS, type LogLevel } from "./telemetry/index.ts";

export interface Configuration {
  readonly instance: string;
  readonly namespace: string;
  /** Empty = all. */
  readonly watchNamespaces: readonly string[];
  readonly clusterDomain: string;
  /** Where the manual is, without a slash at the end; empty = nowhere. */
  readonly manualUrl: string;
  readonly leaseName: string;
  readonly memberVersion: string;
  readonly memberRepository: string;
  readonly health: { readonly host: string; readonly port: number };
  readonly logLevel: LogLevel;
}

interface Flags {
  readonly name: string;
  readonly namespace: string;
  readonly watchNamespace?: readonly string[];
  readonly clusterDomain: string;
  readonly manualUrl: string;
  readonly leaseName: string;
  readonly memberVersion: string;
  readonly memberImage: string;
  readonly health: Configuration["health"];
  readonly logLevel: LogLevel;
}

/** Prints errors or the help and exits the process if the arguments require it. */
export function parseConfiguration(argv: readonly string[], version: string): Configuration {
  const program = new Command("quoin-operator")
    .description("Reconciles CoordinationClusters: runs clusters of Quoin on Kubernetes")
    .version(version)
    .allowExcessArguments(false)
    .requiredOption("--name <name>", "unique name of this operator, such as that of its pod")
    .requiredOption("--namespace <namespace>", "namespace of this operator, and of its Lease")
    .option("--watch-namespace <namespace>", "a namespace to watch; repeatable (default: all)", collect)
    .option("--cluster-domain <domain>", "domain of the Kubernetes cluster", "cluster.local")
    .addOption(
      new Option("--manual-url <url>", "address of the manual, for links in alerts")
        .argParser(parseManualUrl)
        .default("", "no links"),
    )
    .option("--lease-name <name>", "name of the Lease that operators of the same clusters share", "quoin-operator")
    .option("--member-version <version>", "default version of the members of a cluster", version)
    .option("--member-image <repository>", "default image of the members of a cluster, without a tag", "quoin")
    .addOption(
      new Option("--health <host:port>", "address for probes and metrics")
        .argParser(parseListen)
        .default({ host: EVERY_ADDRESS, port: 8080 }, `${EVERY_ADDRESS}:8080, all IPv6 and IPv4 addresses`),
    )
    .addOption(new Option("--log-level <level>", "lowest level of the log").choices(LOG_LEVELS).default("info"));
  // Node puts it in the place of bytes that are not UTF-8. No object of Kubernetes has it in its name.
  const wrong = argv.find((argument) => argument.includes("\ufffd"));
  if (wrong !== undefined) {
    program.error(`error: an argument is not UTF-8, or has the character U+FFFD: ${wrong}`);
  }
  const flags = program.parse(argv, { from: "user" }).opts<Flags>();
  return {
    instance: flags.name,
    namespace: flags.namespace,
    watchNamespaces: flags.watchNamespace ?? [],
    clusterDomain: flags.clusterDomain,
    manualUrl: flags.manualUrl,
    leaseName: flags.leaseName,
    memberVersion: flags.memberVersion,
    memberRepository: flags.memberImage,
    health: flags.health,
    logLevel: flags.logLevel,
  };
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function parseManualUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) {
    throw new InvalidArgumentError("must be an address that begins with https:// or http://.");
  }
  return text.replace(/\/+$/, "");
}

function parseListen(text: string): Configuration["health"] {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new InvalidArgumentError("must be host:port, with a port of 0 to 65535; write an IPv6 address in brackets.");
  }
  return { host: match[1] ?? match[2] ?? "", port };
}
