/**
 * Renders the charts with helm, for specs. Finds helm in the PATH, or where the end-to-end tests build it. It reads
 * only the charts: no cluster, no user configuration, no network.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { userCache } from "../../../testing/index.ts";

/** The fields that all Kubernetes objects share. Specs know the other fields that they read. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what helm writes has no types, and specs look at all kinds of it.
  readonly [field: string]: any;
}

type ChartName = "quoin-operator" | "quoin-cluster";

interface Rendering {
  /** Names of files in the chart's `ci` folder, without extension. */
  readonly files?: readonly string[];
  /** As JSON, by the path of the value. */
  readonly set?: Readonly<Record<string, unknown>>;
  readonly release?: string;
  /** Version of Kubernetes; by default the oldest that the charts support. */
  readonly version?: string;
}

interface HelmResult {
  readonly failed: boolean;
  readonly output: string;
}

const ROOT = path.resolve(import.meta.dirname, "../../..");
const OLDEST = "1.29.0";
const LIMIT_MS = 30_000;
const RELEASE = "prod";
export const NAMESPACE = "quoin-system";

/** For `before`: the helm of this machine. Without helm it skips the specs, and says so. */
export function helmOrSkip(context: Mocha.Context): Helm {
  const program = findHelm();
  if (program === null) {
    console.log("      skipped: there is no helm; `npm run e2e` builds one");
    context.skip();
  }
  return new Helm(program);
}

function findHelm(): string | null {
  const candidates = ["helm", ...globSync(userCache("quoin-e2e/helm-*/helm")).sort()];
  return candidates.find((program) => spawnSync(program, ["version"], { timeout: LIMIT_MS }).status === 0) ?? null;
}

export function chartFolder(chart: ChartName): string {
  return path.join(ROOT, "charts", chart);
}

/** Names of the value files in a chart's `ci` folder. */
export function valueFilesOf(chart: ChartName): string[] {
  return globSync("ci/*.yaml", { cwd: chartFolder(chart) })
    .map((file) => path.basename(file, ".yaml"))
    .sort();
}

export class Helm {
  readonly #program: string;
  /** By request: many specs read the same rendering. */
  readonly #rendered = new Map<string, RenderedObject[]>();

  constructor(program: string) {
    this.#program = program;
  }

  lint(chart: ChartName, rendering: Rendering = {}): HelmResult {
    return this.#run(["lint", "--strict", chartFolder(chart), ...optionsOf(chart, rendering)]);
  }

  /**
   * Renders all objects, including tests.
   * @throws Error with helm's message if it refuses
   */
  render(chart: ChartName, rendering: Rendering = {}): RenderedObject[] {
    const key = JSON.stringify([chart, rendering]);
    const objects = this.#rendered.get(key) ?? this.#render(chart, rendering);
    this.#rendered.set(key, objects);
    return objects;
  }

  #render(chart: ChartName, rendering: Rendering): RenderedObject[] {
    const { failed, output } = this.#template(chart, rendering, []);
    if (failed) {
      throw new Error(output);
    }
    return parseAllDocuments(output)
      .map((document) => {
        if (document.errors.length > 0) {
          throw new Error(`${document.errors[0]?.message}\n${output}`);
        }
        return document.toJS() as RenderedObject | null;
      })
      .filter((object) => object !== null);
  }

  /** The text of one template. */
  text(chart: ChartName, template: string, rendering: Rendering = {}): string {
    const { failed, output } = this.#template(chart, rendering, ["--show-only", template]);
    if (failed) {
      throw new Error(output);
    }
    return output;
  }

  /** Helm's message if it refuses to render this; empty if it renders. */
  refusal(chart: ChartName, set: Rendering["set"] = {}): string {
    const { failed, output } = this.#template(chart, { set }, []);
    return failed ? output : "";
  }

  /**
   * The notes after an installation. Helm renders notes only in a real installation, so an extra object contains them
   * here.
   */
  notes(chart: ChartName, rendering: Rendering = {}): string {
    const name = "what-is-told";
    const notes = `{{ include "${chart}.notes" . | quote }}`;
    const object = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: { notes: ${notes} }\n`;
    const objects = this.render(chart, { ...rendering, set: { ...rendering.set, extraObjects: [object] } });
    return objectOf(objects, "ConfigMap", name).data.notes;
  }

  #template(chart: ChartName, rendering: Rendering, options: readonly string[]): HelmResult {
    const { release = RELEASE, version = OLDEST } = rendering;
    const fixed = ["--namespace", NAMESPACE, "--kube-version", version];
    return this.#run(["template", release, chartFolder(chart), ...fixed, ...options, ...optionsOf(chart, rendering)]);
  }

  #run(args: readonly string[]): HelmResult {
    const folder = path.join(tmpdir(), "helm-has-no-configuration");
    const { status, stdout, stderr } = spawnSync(this.#program, args, {
      encoding: "utf8",
      timeout: LIMIT_MS,
      env: {
        PATH: process.env.PATH,
        HELM_CACHE_HOME: folder,
        HELM_CONFIG_HOME: folder,
        HELM_DATA_HOME: folder,
        KUBECONFIG: "/dev/null",
      },
    });
    return { failed: status !== 0, output: status === 0 ? stdout : `${stdout}${stderr}` };
  }
}

function optionsOf(chart: ChartName, { files = [], set = {} }: Rendering): string[] {
  return [
    ...files.flatMap((name) => ["--values", path.join(chartFolder(chart), "ci", `${name}.yaml`)]),
    ...Object.entries(set).flatMap(([name, value]) => ["--set-json", `${name}=${JSON.stringify(value)}`]),
  ];
}

/**
 * The only object of a kind, or the one with a name.
 * @throws Error if there is not exactly one
 */
export function objectOf(objects: readonly RenderedObject[], kind: string, name?: string): RenderedObject {
  const found = objects.filter((each) => each.kind === kind && (name === undefined || each.metadata.name === name));
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`${found.length} objects of kind ${kind} ${name ?? ""}`);
  }
  return first;
}
