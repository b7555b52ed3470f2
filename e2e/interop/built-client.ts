/**
 * Clients in Java and in Rust. The tools of their languages build each one, with the exact versions in its files, into
 * the cache of the user: once for each content of its sources and of the contract.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, globSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { madeOnce, userCache } from "../../testing/index.ts";

/** The contract as a FileDescriptorSet. */
const DESCRIPTORS = fileURLToPath(new URL("../../proto/generated/descriptors.binpb", import.meta.url));
const JAVA = fileURLToPath(new URL("java", import.meta.url));
const RUST = fileURLToPath(new URL("rust", import.meta.url));
const JAVA_PACKAGES = "on Debian and Ubuntu: apt-get install maven default-jdk-headless";
const COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies";
/** The `rust-version` of the client. */
const RUST_MINOR_MIN = 88;
const HASH_LENGTH = 16;

const execute = promisify(execFile);

/** This machine cannot build a client. The message says what to install. */
export class ToolMissing extends Error {}

/** A program and its first arguments. */
export type Command = readonly [program: string, ...args: readonly string[]];

/** @returns the client on grpc-java. Raises ToolMissing, or the error of a tool with its output. */
export async function javaClient(): Promise<Command> {
  const directory = await built("java", JAVA, async (draft) => {
    const properties = [`-DoutputDirectory=${draft}`, `-Dtarget=${draft}`];
    await run("mvn", ["--batch-mode", "--quiet", "compile", COPY_DEPENDENCIES, ...properties], JAVA, JAVA_PACKAGES);
  });
  await run("java", ["-version"], directory, JAVA_PACKAGES);
  // It runs for seconds, in which the second compiler and parallel collectors cost more than they bring.
  return [
    "java",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-cp",
    `${path.join(directory, "classes")}:${path.join(directory, "*")}`,
    "Load",
  ];
}

/** @returns the client on tonic. Raises ToolMissing, or the error of a tool with its output. */
export async function rustClient(): Promise<Command> {
  const directory = await built("rust", RUST, async (draft) => {
    const rustup = `Rust 1.${RUST_MINOR_MIN} or newer, by rustup`;
    const [, minor] = /^cargo 1\.(\d+)/.exec(await run("cargo", ["--version"], RUST, rustup)) ?? [];
    if (Number(minor) < RUST_MINOR_MIN) {
      throw new ToolMissing(`the Rust of this machine is too old; install ${rustup}`);
    }
    const target = path.join(draft, "target");
    await run("cargo", ["build", "--quiet", "--release", "--locked", "--target-dir", target], RUST, rustup);
    copyFileSync(path.join(target, "release", "interop"), path.join(draft, "interop"));
    rmSync(target, { recursive: true });
  });
  return [path.join(directory, "interop")];
}

async function built(name: string, sources: string, make: (draft: string) => Promise<void>): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(DESCRIPTORS));
  for (const file of globSync("**/*.*", { cwd: sources }).sort()) {
    hash.update(file).update(readFileSync(path.join(sources, file)));
  }
  const directory = userCache("quoin", "interop", `${name}-${hash.digest("hex").slice(0, HASH_LENGTH)}`);
  await madeOnce(directory, make);
  return directory;
}

async function run(program: string, args: readonly string[], cwd: string, install: string): Promise<string> {
  try {
    return (await execute(program, args, { cwd })).stdout;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new ToolMissing(`this machine has no ${program}; install it: ${install}`, { cause: error });
    }
    throw error;
  }
}
