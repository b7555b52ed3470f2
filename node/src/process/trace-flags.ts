/**
 * The flags for traces, and the environment variables of OpenTelemetry that mean the same: where to export traces, and
 * which ones. Without an address the member keeps no traces.
 *
 * Variables of OpenTelemetry are often set for every program of a namespace or a machine. If they ask for what this
 * member cannot do, and no flag asks for traces, the member starts without traces.
 */

import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../command-line/index.ts";
import {
  OTLP_PROTOCOLS,
  type OtlpProtocol,
  SAMPLER_NAMES,
  type SamplerName,
  type SamplerOptions,
  type TracingConfiguration,
} from "../tracing/index.ts";

/** Flags as given, before checks of flags that depend on each other. */
export interface TraceFlags {
  readonly traceEndpoint?: string;
  readonly traceRatio?: number;
  readonly traceSlowMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The path for traces below an endpoint of OTLP. */
const TRACES_PATH = "v1/traces";
/** A member answers many thousand requests per second; one in a hundred shows what there is to see. */
const RATIO = 0.01;
const SLOW_MS = 1_000;
const DEFAULT_SAMPLER: SamplerName = "parentbased_traceidratio";
const TRUE = "true";

export function addTraceOptions(program: Command): Command {
  return program
    .option(
      "--trace-endpoint <url>",
      "OTLP/HTTP endpoint that takes traces, such as http://collector:4318; without it, OTEL_EXPORTER_OTLP_ENDPOINT",
      parseUrl,
    )
    .option(
      "--trace-ratio <ratio>",
      `share of the requests without a trace of their caller to trace, 0 to 1 (default: ${RATIO})`,
      parseRatio,
    )
    .addOption(
      new Option("--trace-slow-ms <ms>", "trace every request that takes at least this many milliseconds; 0 = none")
        .env("QUOIN_TRACE_SLOW_MS")
        .argParser(parseMilliseconds)
        .default(SLOW_MS),
    );
}

/** The traces of a member; see the fields of the same names in its configuration. */
interface TracingChoice {
  readonly tracing: TracingConfiguration | null;
  readonly tracingProblem: string | null;
}

/** Without an address there are no traces. Raises UsageError, for the environment only if a flag asks for traces. */
export function tracingConfigurationOf(flags: TraceFlags, environment: Environment): TracingChoice {
  try {
    return { tracing: chosenTracing(flags, environment), tracingProblem: null };
  } catch (error) {
    const isAskedFor = flags.traceEndpoint !== undefined || flags.traceRatio !== undefined;
    if (isAskedFor || !(error instanceof UsageError)) {
      throw error;
    }
    return { tracing: null, tracingProblem: error.message };
  }
}

function chosenTracing(flags: TraceFlags, environment: Environment): TracingConfiguration | null {
  const url = flags.traceEndpoint === undefined ? null : tracesUrl(flags.traceEndpoint);
  const isInEnvironment =
    isSet(environment, "OTEL_EXPORTER_OTLP_ENDPOINT") || isSet(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const isOff =
    textOf(environment, "OTEL_SDK_DISABLED").toLowerCase() === TRUE ||
    textOf(environment, "OTEL_TRACES_EXPORTER") === "none";
  if (url === null && !isInEnvironment) {
    if (flags.traceRatio !== undefined) {
      throw new UsageError("--trace-ratio needs --trace-endpoint, or OTEL_EXPORTER_OTLP_ENDPOINT in the environment");
    }
    return null;
  }
  if (url === null && isOff) {
    return null;
  }
  const sampler: SamplerOptions =
    flags.traceRatio === undefined ? samplerOf(environment) : { name: DEFAULT_SAMPLER, ratio: flags.traceRatio };
  return { url, protocol: protocolOf(environment), sampler, slowMs: flags.traceSlowMs };
}

function samplerOf(environment: Environment): SamplerOptions {
  const name = oneOf(environment, "OTEL_TRACES_SAMPLER", SAMPLER_NAMES) ?? DEFAULT_SAMPLER;
  const isUnset = !isSet(environment, "OTEL_TRACES_SAMPLER");
  const text = textOf(environment, "OTEL_TRACES_SAMPLER_ARG");
  if (text === "") {
    // A ratio without an argument is 1 in OpenTelemetry.
    return { name, ratio: isUnset ? RATIO : 1 };
  }
  const ratio = ratioOf(text);
  if (ratio === null) {
    throw new UsageError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not ${text}`);
  }
  return { name, ratio };
}

function protocolOf(environment: Environment): OtlpProtocol {
  const ofTraces = oneOf(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", OTLP_PROTOCOLS);
  return ofTraces ?? oneOf(environment, "OTEL_EXPORTER_OTLP_PROTOCOL", OTLP_PROTOCOLS) ?? "http/protobuf";
}

function oneOf<Value extends string>(environment: Environment, name: string, values: readonly Value[]): Value | null {
  if (!isSet(environment, name)) {
    return null;
  }
  const found = values.find((value) => value === environment[name]);
  if (found === undefined) {
    throw new UsageError(`${name} must be one of ${values.join(", ")}, not ${environment[name]}`);
  }
  return found;
}

function isSet(environment: Environment, name: string): boolean {
  return textOf(environment, name) !== "";
}

/** In OpenTelemetry, an empty variable is like none. */
function textOf(environment: Environment, name: string): string {
  return environment[name] ?? "";
}

function tracesUrl(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, "")}/${TRACES_PATH}`;
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.search !== "" || url.hash !== "") {
    throw new InvalidArgumentError("It must be a URL that begins with http:// or https://, without a query.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError("It must not contain a password: use OTEL_EXPORTER_OTLP_HEADERS.");
  }
  return text;
}

function parseRatio(text: string): number {
  const ratio = ratioOf(text);
  if (ratio === null) {
    throw new InvalidArgumentError("It must be a number from 0 to 1, such as 0.01.");
  }
  return ratio;
}

/** Null unless the text is a number from 0 to 1. */
function ratioOf(text: string): number | null {
  const ratio = Number(text);
  return /^[0-9]*\.?[0-9]+$/.test(text) && ratio <= 1 ? ratio : null;
}

function parseMilliseconds(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number of milliseconds.");
  }
  return Number(text);
}
