import { expect } from "chai";
import { Command } from "commander";
import { addFlags, UsageError, valuesOf } from "../command-line/index.ts";
import { parseConfiguration } from "./configuration.ts";
import { MEMBER_FLAGS } from "./member-flags.ts";
import { tracingConfigurationOf } from "./trace-flags.ts";

const NOT_GIVEN = { endpoint: null, ratio: null, slowMs: 0 };
const ENDPOINT = ["--trace-endpoint", "http://collector:4318"];

function tracingOf(flags: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const program = addFlags(new Command(), MEMBER_FLAGS.traces).exitOverride();
  program.parse(flags, { from: "user" });
  return tracingConfigurationOf(valuesOf(program, MEMBER_FLAGS.traces), environment).tracing;
}

describe("flags for traces", () => {
  it("keep none without an address", () => {
    expect(tracingOf([])).to.equal(null);
    expect(tracingOf([], { OTEL_TRACES_SAMPLER: "always_on", OTEL_EXPORTER_OTLP_ENDPOINT: "" })).to.equal(null);
    expect(() => tracingOf(["--trace-ratio", "1"])).to.throw(UsageError, "--trace-ratio needs --trace-endpoint");
  });

  it("name the collector, the ratio, and when a request is slow", () => {
    expect(tracingOf(ENDPOINT)).to.deep.equal({
      url: "http://collector:4318/v1/traces",
      protocol: "http/protobuf",
      slowMs: 1_000,
      sampler: { name: "parentbased_traceidratio", ratio: 0.01 },
    });
    const flags = ["--trace-endpoint", "https://collector/otlp/", "--trace-ratio", "0.5", "--trace-slow-ms", "0"];
    expect(tracingOf(flags)).to.deep.include({
      url: "https://collector/otlp/v1/traces",
      slowMs: 0,
      sampler: { name: "parentbased_traceidratio", ratio: 0.5 },
    });
  });

  it("are those of the member", () => {
    const configuration = parseConfiguration(["--name", "q-0", "--data-dir", "data", ...ENDPOINT], "0.1.0");
    expect(configuration?.tracing?.url).to.equal("http://collector:4318/v1/traces");
  });

  it("win over the environment of OpenTelemetry, which also switches traces on and off", () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://other:4318" };
    expect(tracingOf([], environment)).to.include({ url: null });
    expect(tracingOf([], { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other/traces" })).to.include({ url: null });
    for (const off of [{ OTEL_SDK_DISABLED: "TRUE" }, { OTEL_TRACES_EXPORTER: "none" }]) {
      expect(tracingOf([], { ...environment, ...off })).to.equal(null);
      expect(tracingOf(ENDPOINT, off)).to.not.equal(null);
    }
    const always = { ...environment, OTEL_TRACES_SAMPLER: "always_on" };
    expect(tracingOf([], always)?.sampler.name).to.equal("always_on");
    expect(tracingOf(["--trace-ratio", "0.2"], always)?.sampler).to.deep.equal({
      name: "parentbased_traceidratio",
      ratio: 0.2,
    });
  });

  it("take the sampler and the protocol of the environment", () => {
    const sampled = (name: string, argument = "") =>
      tracingOf(ENDPOINT, { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument })?.sampler;
    expect(sampled("traceidratio", "0.25")).to.deep.equal({ name: "traceidratio", ratio: 0.25 });
    expect(sampled("traceidratio")).to.deep.equal({ name: "traceidratio", ratio: 1 });
    expect(sampled("", "0.25")).to.deep.equal({ name: "parentbased_traceidratio", ratio: 0.25 });
    expect(tracingOf(ENDPOINT, { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })?.protocol).to.equal("http/json");
  });

  it("refuse invalid values, and name the variable", () => {
    const invalid: readonly (readonly [name: string, value: string])[] = [
      ["OTEL_TRACES_SAMPLER", "sometimes"],
      ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
      ["OTEL_TRACES_SAMPLER_ARG", "half"],
      ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
      ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"],
    ];
    for (const [name, value] of invalid) {
      expect(() => tracingOf(ENDPOINT, { [name]: value }), `${name}=${value}`).to.throw(UsageError, name);
    }
  });

  it("do not refuse what the environment alone asks for, but keep no traces", () => {
    const shared = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4317" };
    for (const [name, value] of [
      ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
      ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"],
      ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
      ["OTEL_TRACES_SAMPLER_ARG", "endpoint=http://collector:14250"],
    ] as const) {
      const { tracing, tracingProblem } = tracingConfigurationOf(NOT_GIVEN, { ...shared, [name]: value });
      expect(tracing, name).to.equal(null);
      expect(tracingProblem, name).to.include(`${name} must be`).and.to.include(value);
      expect(() => tracingOf(["--trace-ratio", "1"], { ...shared, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).to.throw(
        UsageError,
        "OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json, not grpc",
      );
    }
    const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    expect(tracingOf(ENDPOINT, { ...grpc, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" })).to.include({
      protocol: "http/json",
    });
    expect(tracingConfigurationOf(NOT_GIVEN, grpc)).to.deep.equal({ tracing: null, tracingProblem: null });
  });

  it("refuse invalid addresses, ratios and times", () => {
    const invalid: readonly (readonly string[])[] = [
      ["--trace-endpoint", "collector:4318"],
      ["--trace-endpoint", "http://user:secret@collector:4318"],
      ["--trace-endpoint", "http://collector:4318?x=1"],
      ["--trace-ratio", "1.01"],
      ["--trace-ratio", "-1"],
      ["--trace-ratio", "1e-3"],
      ["--trace-slow-ms", "1.5"],
    ];
    for (const flags of invalid) {
      const args = ["--name", "q-0", "--data-dir", "data", ...flags];
      expect(() => parseConfiguration(args, "0.1.0"), flags.join(" ")).to.throw(UsageError, flags[0]);
    }
  });
});
