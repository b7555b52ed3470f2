/** The cluster of the specs: the one that KUBECONFIG names, whether or not this harness has made it. */

import { delimiter } from "node:path";
import { type RunOptions, run } from "../../testing/index.ts";
import { ApiProxy } from "./api-proxy.ts";
import { importImages } from "./cluster-node.ts";
import { Faults } from "./faults.ts";
import { provideDevelopmentImage, provideFormerRelease, provideNextVersion } from "./product.ts";
import { buildPrometheusImage } from "./prometheus.ts";
import { REPOSITORY, Site } from "./site.ts";
import { describeCluster } from "./start.ts";
import { buildVersitygwImage } from "./versitygw.ts";

/** Public images, used if this harness has not made its own. */
const PUBLIC_NODE_IMAGE = "node:26-slim";
const PUBLIC_PROMETHEUS_IMAGE = "prom/prometheus:v2.55.1";
const PUBLIC_S3_IMAGE = "versity/versitygw:v1.8.0";
const COMMAND_LIMIT_MS = 120_000;
/** Made once, for all specs of a run. */
let nextVersion: Promise<string> | null = null;

export class TestCluster {
  /** An image with Node in which specs run their own programs. */
  readonly nodeImage: string;
  /** Faults of its nodes; null if this harness did not make the cluster, and so must not break it. */
  readonly faults: Faults | null;
  readonly #site: Site | null;
  readonly #env: Readonly<Record<string, string>>;

  /** Throws an error if KUBECONFIG names no file. */
  constructor() {
    const kubeconfig = process.env.KUBECONFIG ?? "";
    if (kubeconfig === "") {
      throw new Error("KUBECONFIG is not set: `npm run e2e` sets it");
    }
    const site = Site.own();
    if (kubeconfig !== site.kubeconfig) {
      this.#site = null;
      this.#env = {};
      this.faults = null;
      this.nodeImage = process.env.QUOIN_E2E_NODE_IMAGE ?? PUBLIC_NODE_IMAGE;
      return;
    }
    const { binaries, images } = describeCluster(site);
    this.#site = site;
    this.#env = { PATH: [binaries.kube, binaries.helm, process.env.PATH ?? ""].join(delimiter) };
    this.faults = new Faults(site);
    this.nodeImage = images.base.image;
  }

  /** Runs kubectl and returns its output. Rejects with its error output. */
  kubectl(args: readonly string[], { input, limitMs = COMMAND_LIMIT_MS }: RunOptions = {}): Promise<string> {
    return run("kubectl", args, { env: this.#env, limitMs, ...(input === undefined ? {} : { input }) });
  }

  /** Runs helm and returns its output. Rejects with its error output. */
  helm(args: readonly string[]): Promise<string> {
    return run("helm", args, { env: this.#env, limitMs: COMMAND_LIMIT_MS });
  }

  /** Runs a program of the repository, with kubectl and helm in its PATH. Rejects with its error output. */
  run(program: string, args: readonly string[]): Promise<string> {
    return run(program, args, { cwd: REPOSITORY, env: this.#env, limitMs: COMMAND_LIMIT_MS });
  }

  /** Serves the API where `fetch` can reach it, until it is closed. */
  serveApi(): Promise<ApiProxy> {
    return ApiProxy.start(this.#env);
  }

  /**
   * The version to which the Quoin under test can be upgraded; from now on, the nodes have its image. Null in a foreign
   * cluster, unless QUOIN_E2E_NEXT_VERSION names a version that is available there.
   */
  async provideNextVersion(): Promise<string | null> {
    if (this.#site === null) {
      return process.env.QUOIN_E2E_NEXT_VERSION ?? null;
    }
    nextVersion ??= provideNextVersion(this.#site);
    return await nextVersion;
  }

  /**
   * Imports an image of the last release with the previous cluster version. Returns its tag; null in a foreign cluster.
   */
  async provideFormerRelease(): Promise<string | null> {
    return this.#site === null ? null : await provideFormerRelease(this.#site);
  }

  /**
   * Imports an image whose programs may replace their own files, as Tilt builds it. Returns its tag; null in a foreign
   * cluster.
   */
  async provideDevelopmentImage(): Promise<string | null> {
    return this.#site === null ? null : await provideDevelopmentImage(this.#site);
  }

  /** Returns the name of an image of Prometheus. In a cluster of this harness, it imports the image first. */
  async providePrometheus(): Promise<string> {
    if (this.#site === null) {
      return process.env.QUOIN_E2E_PROMETHEUS_IMAGE ?? PUBLIC_PROMETHEUS_IMAGE;
    }
    const { image, archive } = await buildPrometheusImage();
    await this.importImages(archive);
    return image;
  }

  /**
   * Returns the name of an image of versitygw, an S3 server. In a cluster of this harness, it imports the image first.
   */
  async provideS3(): Promise<string> {
    if (this.#site === null) {
      return process.env.QUOIN_E2E_S3_IMAGE ?? PUBLIC_S3_IMAGE;
    }
    const { image, archive } = await buildVersitygwImage();
    await this.importImages(archive);
    return image;
  }

  /** Imports the images of an archive into all nodes; only in a cluster of this harness. */
  async importImages(archive: string): Promise<void> {
    for (const node of this.#site?.nodes ?? []) {
      await importImages(node, archive);
    }
  }
}
