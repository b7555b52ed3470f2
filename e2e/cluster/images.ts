/**
 * The images of the cluster and of the tests, made by buildah without any registry. The base is a small Debian with the
 * Node and npm of this machine. Images are files in the format of `docker save`, cached by their inputs.
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { run, runLogged, succeeds } from "../../testing/index.ts";
import type { Binaries } from "./binaries.ts";
import { cacheDirectory, cached, digestOfFiles } from "./cache.ts";
import { exclusively } from "./exclusion.ts";
import { phase } from "./phases.ts";
import { REPOSITORY } from "./site.ts";

const SOURCES = import.meta.dirname;
const DEBIAN_RELEASE = "bookworm";
const DEBIAN_MIRROR = "http://deb.debian.org/debian";
/** Libraries that Node needs besides the C library, and the certificates to verify others. */
const DEBIAN_PACKAGES = ["ca-certificates", "libatomic1"];
/** The image trusts the same authorities as this machine, because downloads for its build may come through a proxy. */
const TRUSTED = "/etc/ssl/certs/ca-certificates.crt";
/** Files that only people and later installations need, and devices, which every container gets anyway. */
const DEBIAN_SUPERFLUOUS = [
  "dev",
  "usr/share/doc",
  "usr/share/locale",
  "usr/share/man",
  "var/cache/apt",
  "var/lib/apt/lists",
];
const ARCHIVE = "image.tar";
const BUILD_STAGE_IMAGE = "quoin.local/quoin-build:e2e";
/** Lets builds work without the rights that a separate container would need. */
const BUILDAH = { env: { BUILDAH_ISOLATION: "chroot" } };

/** An image in a file. */
export interface ImageArchive {
  /** Name in pod specifications. */
  readonly image: string;
  readonly archive: string;
}

/** Images that every cluster has. */
export interface ClusterImages {
  readonly pause: ImageArchive;
  readonly coredns: ImageArchive;
  /** Debian with Node and npm. */
  readonly base: ImageArchive;
}

/** Makes missing images. */
export async function buildImages(binaries: Binaries): Promise<ClusterImages> {
  return {
    pause: await build("image of pause", () => imageOf("pause", binaries.pause)),
    coredns: await build("image of CoreDNS", () => imageOf("coredns", binaries.coredns)),
    base: await build("image of Debian with Node", baseImage),
  };
}

function build(title: string, make: () => Promise<[ImageArchive, boolean]>): Promise<ImageArchive> {
  return phase(title, async (say) => {
    const [archive, isFound] = await make();
    say(isFound ? "found in the cache" : "built");
    return archive;
  });
}

/** The image of a program that was built for it. */
async function imageOf(name: "pause" | "coredns", context: string): Promise<[ImageArchive, boolean]> {
  const image = `quoin.local/${name}:e2e`;
  const dockerfile = join(SOURCES, name, "Dockerfile");
  const inputs = [image, digestOfFiles(context), readFileSync(dockerfile, "utf8")];
  const { directory, isFound } = await cached(`image-${name}`, inputs, async (draft) => {
    const archive = join(draft, ARCHIVE);
    await buildImageArchive({ image, context, dockerfile, archive, log: `image-${name}` });
  });
  return [{ image, archive: join(directory, ARCHIVE) }, isFound];
}

async function baseImage(): Promise<[ImageArchive, boolean]> {
  const image = "quoin.local/node:e2e";
  const dockerfile = join(SOURCES, "base", "Dockerfile");
  const npm = await findNpm();
  const npmVersion: string = JSON.parse(readFileSync(join(npm, "package.json"), "utf8")).version;
  const trusted = readFileSync(TRUSTED, "utf8");
  const versions = [process.version, process.arch, npmVersion, DEBIAN_RELEASE];
  const inputs = [image, ...versions, trusted, readFileSync(dockerfile, "utf8")];
  const { directory, isFound } = await cached("image-base", inputs, async (draft) => {
    const root = join(draft, "root");
    const options = ["--variant=minbase", "--merged-usr", `--include=${DEBIAN_PACKAGES.join(",")}`];
    const log = join(cacheDirectory(), "logs", "debootstrap.log");
    await runLogged("debootstrap", [...options, DEBIAN_RELEASE, root, debianMirror()], log);
    for (const path of DEBIAN_SUPERFLUOUS) {
      rmSync(join(root, path), { recursive: true, force: true });
    }
    installNode(root, npm);
    writeFileSync(join(root, TRUSTED), trusted);
    const archive = join(draft, ARCHIVE);
    await buildImageArchive({ image, context: root, dockerfile, archive, log: "image-base" });
    rmSync(root, { recursive: true });
  });
  return [{ image, archive: join(directory, ARCHIVE) }, isFound];
}

/** The directory of the npm in the PATH. */
async function findNpm(): Promise<string> {
  const command = (await run("sh", ["-c", "command -v npm"])).trim();
  return dirname(dirname(realpathSync(command)));
}

/** Installs the Node that runs this program, and an npm, at the paths of the public image. */
function installNode(root: string, npm: string): void {
  // A directory that a program creates may be private to its user, but all users must be able to read an image's root.
  chmodSync(root, 0o755);
  const local = (...names: readonly string[]): string => join(root, "usr", "local", ...names);
  mkdirSync(local("bin"), { recursive: true });
  cpSync(process.execPath, local("bin", "node"));
  cpSync(npm, local("lib", "node_modules", "npm"), { recursive: true, dereference: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", local("bin", "npm"));
  symlinkSync("../lib/node_modules/npm/bin/npx-cli.js", local("bin", "npx"));
}

/** This machine's own Debian mirror, if it is a Debian; else the public mirror. */
function debianMirror(): string {
  const sources = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  return findDebianMirror(sources) ?? DEBIAN_MIRROR;
}

/** The first mirror of Debian itself in the text of apt's source lists, in either of their two formats. */
export function findDebianMirror(sources: string): string | null {
  const [, mirror] = /^(?:URIs:|deb (?:\[[^\]]*\] )?)\s*(https?:\/\/\S+\/debian\/?)(?:\s|$)/m.exec(sources) ?? [];
  return mirror ?? null;
}

/**
 * Builds the image of the repository's own Dockerfile on the base.
 *
 * @param options `stage` and `settings`, the build arguments, are those of another image than the last one. `sources` has
 *   the files of the repository, possibly in an earlier version.
 */
export async function buildProductImage(
  { image, archive }: ImageArchive,
  base: ImageArchive,
  options: Pick<ImageBuild, "settings" | "stage"> & { readonly sources?: string } = {},
): Promise<void> {
  const { sources = REPOSITORY, settings: others = {}, ...stage } = options;
  await alone(async () => {
    await pull(base);
    const settings = { ...others, BASE_IMAGE: base.image };
    const build = { context: sources, dockerfile: join(sources, "Dockerfile"), settings };
    // Gives the last stage with packages a name; otherwise that stage and the one below it would be pruned, and installed
    // again for each build.
    const first = { ...build, image: BUILD_STAGE_IMAGE, stage: "bundler", log: "image-build-stage" };
    await buildImage(first, `${archive}.id`);
    await buildArchive({ ...build, ...stage, image, archive, log: "image-product" });
    await prune();
  });
}

/** Builds another version of that image: the same layers, and a last layer in which all packages have that version. */
export async function buildOtherVersion(
  { image, archive }: ImageArchive,
  product: ImageArchive,
  version: string,
): Promise<void> {
  await alone(async () => {
    const settings = { IMAGE: await pull(product), VERSION: version };
    const context = join(SOURCES, "version");
    const dockerfile = join(context, "Dockerfile");
    await buildArchive({ image, context, dockerfile, archive, log: "image-version", settings });
    await prune();
  });
}

/** Loads an image from its file. Returns its id, because another clone may take over the name at any moment. */
async function pull({ archive }: ImageArchive): Promise<string> {
  return (await buildah(["pull", "--quiet", `docker-archive:${archive}`])).trim();
}

/** Removes superseded images, which would otherwise stay forever. */
async function prune(): Promise<void> {
  // An image that a container still uses stays, and makes the command fail.
  await succeeds("buildah", [...buildahStore(), "rmi", "--prune"]);
}

/** All clones share the store. An image that is superfluous for one may be part of another's present build. */
function alone<T>(work: () => Promise<T>): Promise<T> {
  return exclusively(join(cacheDirectory(), "buildah.lock"), work);
}

interface ImageBuild {
  readonly image: string;
  readonly context: string;
  readonly dockerfile: string;
  /** Name of the log file. */
  readonly log: string;
  /** Build arguments. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The stage to build; the last one if absent. */
  readonly stage?: string;
}

interface ArchiveBuild extends ImageBuild {
  /** The image is written into this file. */
  readonly archive: string;
}

/** Builds one image, reuses the layers of earlier builds, and writes it into a file. */
export function buildImageArchive(build: ArchiveBuild): Promise<void> {
  return alone(() => buildArchive(build));
}

/** The same, without mutual exclusion. */
async function buildArchive({ archive, ...build }: ArchiveBuild): Promise<void> {
  const id = await buildImage(build, `${archive}.id`);
  rmSync(archive, { force: true });
  // By its id, because another clone may take over the name at any moment.
  await buildah(["push", "--quiet", id, `docker-archive:${archive}:${build.image}`]);
}

/** Returns the id of the image, which buildah writes into a file. */
async function buildImage(build: ImageBuild, idFile: string): Promise<string> {
  const { image, context, dockerfile, log, settings = {}, stage } = build;
  const values = Object.entries(settings).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
  const options = ["--layers", "--force-rm", "--pull-never", "--iidfile", idFile, ...values, "--file", dockerfile];
  const wanted = stage === undefined ? [] : ["--target", stage];
  const logFile = join(cacheDirectory(), "logs", `${log}.log`);
  const args = [...buildahStore(), "bud", ...options, ...wanted, "--tag", image, context];
  await runLogged("buildah", args, logFile, BUILDAH);
  const id = readFileSync(idFile, "utf8").trim();
  rmSync(idFile);
  return id;
}

function buildah(args: readonly string[]): Promise<string> {
  return run("buildah", [...buildahStore(), ...args], BUILDAH);
}

/** Storage of images and layers, separate from that of the user. */
function buildahStore(): string[] {
  const store = join(cacheDirectory(), "buildah");
  return ["--root", join(store, "storage"), "--runroot", join(store, "run")];
}
