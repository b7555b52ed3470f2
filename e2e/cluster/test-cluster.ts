/** The cluster that specs run in: the one that KUBECONFIG names, whoever has made it. */

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

/** What is used of the public images where this harness has not made its own. */
const PUBLIC_NODE_IMAGE = "node:26-slim";
const PUBLIC_PROMETHEUS_IMAGE = "prom/prometheus:v2.55.1";
const PUBLIC_S3_IMAGE = "versity/versitygw:v1.8.0";
const COMMAND_LIMIT_MS = 120_000;
/** Made once, for all specs of a run. */
let nextVersion: Promise<string> | null = null;

export class TestCluster {
  /** Of an image with Node in which specs run their own programs. */
  readonly nodeImage: string;
  /** What can be done to its nodes; null if the cluster is not of this harness, and so not ours to break. */
  readonly faults: Faults | null;
  readonly #site: Site | null;
  readonly #env: Readonly<Record<string, string>>;

  /** Raises an error if KUBECONFIG names no file. */
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

  /** Runs kubectl and returns what it printed. Rejects with what it complained about. */
  kubectl(args: readonly string[], { input, limitMs = COMMAND_LIMIT_MS }: RunOptions = {}): Promise<string> {
    return run("kubectl", args, { env: this.#env, limitMs, ...(input === undefined ? {} : { input }) });
  }

  /** Runs helm and returns what it printed. Rejects with what it complained about. */
  helm(args: readonly string[]): Promise<string> {
    return run("helm", args, { env: this.#env, limitMs: COMMAND_LIMIT_MS });
  }

  /** Runs a program of the repository, which finds kubectl and helm. Rejects with what it complained about. */
  run(program: string, args: readonly string[]): Promise<string> {
    return run(program, args, { cwd: REPOSITORY, env: this.#env, limitMs: COMMAND_LIMIT_MS });
  }

  /** Serves the API where `fetch` reaches it, until it is closed. */
  serveApi(): Promise<ApiProxy> {
    return ApiProxy.start(this.#env);
  }

  /**
   * The version to which the Quoin under test can be upgraded, whose image the nodes have from now on; null in a cluster of
   * somebody else, unless QUOIN_E2E_NEXT_VERSION names one that can be had there.
   */
  async provideNextVersion(): Promise<string | null> {
    if (this.#site === null) {
      return process.env.QUOIN_E2E_NEXT_VERSION ?? null;
    }
    nextVersion ??= provideNextVersion(this.#site);
    return await nextVersion;
  }

  /**
   * Gives the nodes an image of the last release with the cluster version before. Returns its tag; null in a cluster of
   * somebody else.
   */
  async provideFormerRelease(): Promise<string | null> {
    return this.#site === null ? null : await provideFormerRelease(this.#site);
  }

  /**
   * Gives the nodes an image whose programs may replace their own files, as Tilt has it built. Returns its tag; null in a
   * cluster of somebody else.
   */
  async provideDevelopmentImage(): Promise<string | null> {
    return this.#site === null ? null : await provideDevelopmentImage(this.#site);
  }

  /** Returns the name of an image whose program is Prometheus. A cluster of this harness is given it. */
  async providePrometheus(): Promise<string> {
    if (this.#site === null) {
      return process.env.QUOIN_E2E_PROMETHEUS_IMAGE ?? PUBLIC_PROMETHEUS_IMAGE;
    }
    const { image, archive } = await buildPrometheusImage();
    await this.importImages(archive);
    return image;
  }

  /** Returns the name of an image whose program is versitygw, an S3 server. A cluster of this harness is given it. */
  async provideS3(): Promise<string> {
    if (this.#site === null) {
      return process.env.QUOIN_E2E_S3_IMAGE ?? PUBLIC_S3_IMAGE;
    }
    const { image, archive } = await buildVersitygwImage();
    await this.importImages(archive);
    return image;
  }

  /** Gives all nodes the images of an archive; only in a cluster of this harness. */
  async importImages(archive: string): Promise<void> {
    for (const node of this.#site?.nodes ?? []) {
      await importImages(node, archive);
    }
  }
}
