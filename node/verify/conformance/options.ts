/** The options of `npm run conformance`. */

import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { PROTOCOLS, type Protocol, type Target } from "./harness/index.ts";

export interface ConformanceOptions {
  /** Null = a cluster of this machine, started for the run. */
  readonly target: Target | null;
  /** Only entries whose `table: title` matches. */
  readonly grep: RegExp | null;
  /** How to call the operations. */
  readonly protocol: Protocol;
}

/** The arguments are wrong; the message says which one and why. */
export class UsageError extends Error {}

/** Tokens come from files or from this variable, never from arguments, which every user of the machine can see. */
const TOKEN_VARIABLE = "QUOIN_TOKEN";

/** Parses the arguments. Null if they asked only for help, which is printed. Raises UsageError. */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ConformanceOptions | null {
  const program = new Command("npm run conformance --")
    .description(
      "Tests the service behind the endpoints of one cluster against the contract, through every one of them",
    )
    .addOption(repeated("--endpoint <host:port>", "where a member serves gRPC; without any, a cluster is started"))
    .addOption(repeated("--http-endpoint <host:port>", "their HTTP addresses in the same order; default: as reported"))
    .option("--token-file <file>", `a token with the access admin to all namespaces; or ${TOKEN_VARIABLE}`)
    .addOption(repeated("--other-token-file <file>", "a token with fewer rights, of another user, or expired"))
    .addOption(repeated("--mail-log <file>", "the log of a member that logs mails instead of sending them"))
    .option("--ca <file>", "certificate authority of the members, in PEM; without it nothing is encrypted")
    .option("--compact", "also drop the cluster's history of changes, which ends the old watches of all clients")
    .addOption(
      new Option("--protocol <name>", "how to call the operations; connect = over HTTP, with JSON")
        .choices(PROTOCOLS)
        .default("grpc"),
    )
    .option("--grep <pattern>", "only entries whose title matches the regular expression")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
    if (error.exitCode === 0) {
      return null;
    }
    throw new UsageError(error.message.replace(/^error: /, ""), { cause: error });
  }
  const {
    endpoint: endpoints,
    httpEndpoint: httpEndpoints,
    tokenFile,
    otherTokenFile,
    mailLog: mailLogs,
    ca,
    compact,
    grep,
    protocol,
  } = program.opts();
  const pattern = grep === undefined ? null : readPattern(grep);
  if (endpoints.length === 0) {
    const repeatable = [...httpEndpoints, ...otherTokenFile, ...mailLogs];
    if (repeatable.length > 0 || tokenFile !== undefined || ca !== undefined) {
      const flags = "--http-endpoint, --token-file, --other-token-file, --mail-log and --ca";
      throw new UsageError(`${flags} are for --endpoint`);
    }
    return { target: null, grep: pattern, protocol };
  }
  if (httpEndpoints.length > 0 && httpEndpoints.length !== endpoints.length) {
    throw new UsageError("--http-endpoint is for every --endpoint or for none");
  }
  const token = tokenFile === undefined ? environment[TOKEN_VARIABLE] : readToken(tokenFile);
  if (token === undefined || token === "") {
    throw new UsageError(`a token is needed: --token-file, or ${TOKEN_VARIABLE} in the environment`);
  }
  return {
    target: {
      endpoints,
      httpEndpoints,
      token,
      otherTokens: otherTokenFile.map(readToken),
      mailLogs,
      ...(ca === undefined ? {} : { ca: readGiven(ca) }),
      mayCompact: compact === true,
    },
    grep: pattern,
    protocol,
  };
}

function repeated(flags: string, description: string): Option {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return new Option(flags, `${description}; may be repeated`).default([], "none").argParser(collect);
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError("--grep is no regular expression", { cause: error });
  }
}

function readToken(file: string): string {
  return readGiven(file).toString("utf8").trim();
}

function readGiven(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read`, { cause: error });
  }
}
