/**
 * The rules of the flags for traces, and of the environment variables of OpenTelemetry that mean the same: where to
 * export traces, and which ones. Without an address the member keeps no traces.
 *
 * Variables of OpenTelemetry are often set for every program of a namespace or a machine. If they ask for what this
 * member cannot do, and no flag asks for traces, the member starts without traces.
 */

import { UsageError } from "../command-line/index.ts";
import {
  OTLP_PROTOCOLS,
  type OtlpProtocol,
  SAMPLER_NAMES,
  type SamplerName,
  type SamplerOptions,
  type TracingConfiguration,
} from "../tracing/index.ts";
import { ratioOf } from "./flag-values.ts";
import { type MemberValues, TRACE_RATIO_DEFAULT } from "./member-flags.ts";

type TraceFlags = MemberValues<"traces">;

type Environment = Readonly<Record<string, string | undefined>>;

/** The path for traces below an endpoint of OTLP. */
const TRACES_PATH = "v1/traces";
const DEFAULT_SAMPLER: SamplerName = "parentbased_traceidratio";
const TRUE = "true";

export interface TracingChoice {
  /** Which traces the member keeps, and where it exports them; null = none. */
  readonly tracing: TracingConfiguration | null;
  /** Why the member keeps no traces although its environment names a collector; null = it does not, or all is well. */
  readonly tracingProblem: string | null;
}

/** Without an address there are no traces. Raises UsageError, for the environment only if a flag asks for traces. */
export function tracingConfigurationOf(flags: TraceFlags, environment: Environment): TracingChoice {
  try {
    return { tracing: chosenTracing(flags, environment), tracingProblem: null };
  } catch (error) {
    const isAskedFor = flags.endpoint !== null || flags.ratio !== null;
    if (isAskedFor || !(error instanceof UsageError)) {
      throw error;
    }
    return { tracing: null, tracingProblem: error.message };
  }
}

function chosenTracing(flags: TraceFlags, environment: Environment): TracingConfiguration | null {
  const url = flags.endpoint === null ? null : tracesUrl(flags.endpoint);
  const isInEnvironment =
    isSet(environment, "OTEL_EXPORTER_OTLP_ENDPOINT") || isSet(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const isOff =
    textOf(environment, "OTEL_SDK_DISABLED").toLowerCase() === TRUE ||
    textOf(environment, "OTEL_TRACES_EXPORTER") === "none";
  if (url === null && !isInEnvironment) {
    if (flags.ratio !== null) {
      throw new UsageError("--trace-ratio needs --trace-endpoint, or OTEL_EXPORTER_OTLP_ENDPOINT in the environment");
    }
    return null;
  }
  if (url === null && isOff) {
    return null;
  }
  const sampler: SamplerOptions =
    flags.ratio === null ? samplerOf(environment) : { name: DEFAULT_SAMPLER, ratio: flags.ratio };
  return { url, protocol: protocolOf(environment), sampler, slowMs: flags.slowMs };
}

function samplerOf(environment: Environment): SamplerOptions {
  const name = oneOf(environment, "OTEL_TRACES_SAMPLER", SAMPLER_NAMES) ?? DEFAULT_SAMPLER;
  const isUnset = !isSet(environment, "OTEL_TRACES_SAMPLER");
  const text = textOf(environment, "OTEL_TRACES_SAMPLER_ARG");
  if (text === "") {
    // A ratio without an argument is 1 in OpenTelemetry.
    return { name, ratio: isUnset ? TRACE_RATIO_DEFAULT : 1 };
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
