/**
 * Installs the dependencies of the repository if they are missing or out of date. Every npm script runs this file
 * first, so a fresh clone needs only npm and Node 18 or newer.
 *
 * When it exits with 0, node_modules matches package-lock.json, and the first `node` on the PATH of npm scripts is Node
 * 26 or newer. A second run only compares a fingerprint and takes a few milliseconds. Simultaneous runs wait for each other.
 *
 * It is plain JavaScript on built-in modules, because it runs before anything else is installed, and on an older Node.
 * It does not build anything and never touches data.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";

const MINIMUM_NODE_MAJOR = 18; // npm 9 and the syntax of this file need it.
const RUNTIME_NODE_MAJOR = 26; // Runs TypeScript directly; package.json brings it in per platform.
const LOCK_POLL_MS = 100;
const PROGRESS_INTERVAL_MS = 250;
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const modules = path.join(root, "node_modules");
const installedNode = path.join(modules, ".bin", "node"); // npm puts this folder first on the PATH of scripts.
const fingerprintFile = path.join(modules, ".quoin-setup");
const lockFile = path.join(root, ".setup.lock"); // Not inside node_modules: an installation empties it.

/** A problem that the user can fix: printed without a stack. */
class SetupError extends Error {}

/**
 * @param {string} version as in `v26.10.0`
 * @returns {number} the major version; 0 if there is none
 */
function majorOf(version) {
  const match = /^v?(\d+)\./.exec(version.trim());
  return match === null ? 0 : Number(match[1]);
}

/**
 * @param {string[]} workspaces
 * @returns {string} a digest of everything that determines the installation
 */
function fingerprint(workspaces) {
  const files = ["package.json", "package-lock.json", ".npmrc"];
  for (const workspace of workspaces) {
    files.push(path.join(workspace, "package.json"));
  }
  const hash = createHash("sha256").update(`${process.platform}-${process.arch}\n`);
  for (const file of files) {
    const content = fs.readFileSync(path.join(root, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/**
 * @typedef {object} LockedPackage the fields of a lockfile entry that this file reads
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [optional]
 * @property {string | string[]} [os]
 * @property {string | string[]} [cpu]
 * @property {string | string[]} [libc]
 */

/**
 * @param {string} file a lockfile
 * @returns {Map<string, LockedPackage> | undefined} its entries by path; undefined if there is no such file
 */
function readLockfile(file) {
  try {
    return new Map(Object.entries(JSON.parse(fs.readFileSync(path.join(root, file), "utf8")).packages));
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) {
      return undefined;
    }
    throw error;
  }
}

/**
 * @param {LockedPackage} entry
 * @returns {boolean} whether npm skips this package on this machine, because it is for another platform
 */
function isForAnotherPlatform(entry) {
  const { os = process.platform, cpu = process.arch, libc } = entry;
  const fits = os.includes(process.platform) && cpu.includes(process.arch) && libc === undefined;
  return entry.optional === true && !fits;
}

/**
 * @param {string[]} workspaces
 * @returns {string | undefined} the first difference between node_modules and package-lock.json, or between that and a
 *   package.json; undefined if all agree
 */
function findDifference(workspaces) {
  const locked = readLockfile("package-lock.json") ?? new Map();
  const installed = readLockfile("node_modules/.package-lock.json");
  if (installed === undefined) {
    return "nothing is installed";
  }
  for (const folder of ["", ...workspaces]) {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, "package.json"), "utf8"));
    for (const kind of ["dependencies", "devDependencies", "optionalDependencies", "workspaces"]) {
      if (!isDeepStrictEqual(manifest[kind], locked.get(folder)?.[kind])) {
        return `${kind} of ${path.join(folder, "package.json")}`;
      }
    }
  }
  for (const [name, entry] of locked) {
    const present = installed.get(name);
    if (name === "" || (present === undefined && isForAnotherPlatform(entry))) {
      continue;
    }
    if (present?.version !== entry.version || present?.integrity !== entry.integrity) {
      return name;
    }
    if (!fs.existsSync(path.join(root, name))) {
      return name;
    }
  }
  return [...installed.keys()].find((name) => !locked.has(name));
}

/** @returns {boolean} whether the Node that runs this file could run everything else as well */
function hasOwnRuntime() {
  return majorOf(process.version) >= RUNTIME_NODE_MAJOR;
}

/**
 * @param {string} expected the current fingerprint
 * @returns {boolean} whether the last successful setup used the same files and its Node still exists
 */
function isCurrent(expected) {
  try {
    return fs.readFileSync(fingerprintFile, "utf8") === expected && (hasOwnRuntime() || fs.existsSync(installedNode));
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) {
      return false;
    }
    throw error;
  }
}

/**
 * @param {unknown} error
 * @param {string} code as in `ENOENT`
 * @returns {boolean}
 */
function isErrorCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}

/** @param {number} durationMs */
function pause(durationMs) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

/**
 * @param {string} owner the process id in a lock file that this process does not hold
 * @returns {boolean}
 */
function isAlive(owner) {
  const id = Number(owner);
  if (!Number.isInteger(id) || id <= 0 || id === process.pid) {
    return false; // This process's own id: containers reuse the same few ids.
  }
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return isErrorCode(error, "EPERM"); // It exists, and belongs to another user.
  }
}

/**
 * Takes the lock unless a living process holds it. The file appears with its content (a link to a finished file), so no
 * process ever reads a lock without an owner.
 *
 * @returns {boolean} whether this process holds the lock now
 */
function tryLock() {
  const mine = `${lockFile}.${randomUUID()}`;
  fs.writeFileSync(mine, `${process.pid}\n`);
  try {
    fs.linkSync(mine, lockFile);
    return true;
  } catch (error) {
    if (!isErrorCode(error, "EEXIST")) {
      throw error;
    }
  } finally {
    fs.rmSync(mine);
  }
  return dropDeadLock() && tryLock();
}

/**
 * Removes the lock of a process that ended without doing so.
 *
 * @returns {boolean} whether the lock may be free now
 */
function dropDeadLock() {
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    if (isAlive(fs.readFileSync(lockFile, "utf8"))) {
      return false;
    }
    // If several processes see the same dead lock, only one succeeds in moving it away.
    fs.renameSync(lockFile, aside);
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) {
      return true;
    }
    throw error;
  }
  if (isAlive(fs.readFileSync(aside, "utf8"))) {
    // Between the read and the move, another process replaced the dead lock by its own: give that lock back.
    fs.linkSync(aside, lockFile);
  }
  fs.rmSync(aside);
  return true;
}

/**
 * @param {() => Promise<void>} work
 */
async function withLock(work) {
  let announced = false;
  while (!tryLock()) {
    if (!announced) {
      process.stdout.write(`Waiting for another setup; if there is none, remove ${path.basename(lockFile)} ...\n`);
      announced = true;
    }
    pause(LOCK_POLL_MS);
  }
  const release = () => fs.rmSync(lockFile, { force: true });
  process.once("exit", release);
  await work();
  process.off("exit", release);
  release();
}

/**
 * The environment for npm. The machine's own Node must run it, because npm is about to replace the one in node_modules.
 *
 * @returns {NodeJS.ProcessEnv}
 */
function machineEnvironment() {
  const own = path.join("node_modules", ".bin");
  const entries = (process.env.PATH ?? "").split(path.delimiter);
  return { ...process.env, PATH: entries.filter((entry) => !entry.endsWith(own)).join(path.delimiter) };
}

/**
 * Shows on a terminal how many of the packages are in node_modules, until the returned function is called. Elsewhere,
 * such as in a log, it prints one line.
 *
 * @returns {() => void}
 */
function showProgress() {
  const { stdout } = process;
  if (!stdout.isTTY) {
    stdout.write("Installing dependencies; the first time, this takes some minutes ...\n");
    return () => {};
  }
  const locked = [...(readLockfile("package-lock.json") ?? [])];
  const expected = locked.filter(([name, entry]) => name.startsWith("node_modules/") && !isForAnotherPlatform(entry));
  const startedMs = Date.now();
  const show = () => {
    const present = expected.filter(([name]) => fs.existsSync(path.join(root, name, "package.json"))).length;
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    stdout.write(
      `\r\x1b[KInstalling dependencies, some minutes the first time: ${present} of ${expected.length}, ${seconds} s`,
    );
  };
  show();
  const timer = setInterval(show, PROGRESS_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    show();
    stdout.write("\n");
  };
}

/**
 * Runs npm with standard input closed.
 *
 * @param {string[]} args
 * @returns {Promise<{ status: number | null, signal: string | null, output: string }>} how it ended, and all that it
 *   printed; rejects if it cannot be started
 */
function runNpm(args) {
  const child = spawn("npm", args, { cwd: root, env: machineEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status, signal) => resolve({ status, signal, output }));
  });
}

/** Runs `npm ci`; raises a SetupError with the complete output of npm if it fails. */
async function install() {
  // A fingerprint must never outlive the modules that it describes.
  fs.rmSync(fingerprintFile, { force: true });
  const stopProgress = showProgress();
  try {
    // Sets the level, because `npm --silent test` passes its own on, and an error must always be visible.
    const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status, signal, output } = await runNpm(args);
    if (status !== 0) {
      const cause = signal === null ? `with exit code ${status}` : `on ${signal}`;
      throw new SetupError(`npm ci ended ${cause}:\n${output}`);
    }
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) {
      throw new SetupError("npm was not found. It comes with Node: install Node 18 or newer, with npm on the PATH.");
    }
    throw error;
  } finally {
    stopProgress();
  }
}

/** Raises a SetupError unless the first Node on the PATH of npm scripts is new enough. */
function verifyRuntime() {
  const present = fs.existsSync(installedNode);
  if (!present && hasOwnRuntime()) {
    return;
  }
  const platform = `${process.platform}-${process.arch}`;
  if (!present && !PLATFORMS.includes(platform)) {
    throw new SetupError(
      `Node ${RUNTIME_NODE_MAJOR} comes with the repository for ${PLATFORMS.join(", ")}, not for ${platform}. ` +
        `Install Node ${RUNTIME_NODE_MAJOR} or newer on this machine and run the command again.`,
    );
  }
  const result = spawnSync(installedNode, ["--version"], { encoding: "utf8" });
  if (result.status === 0 && majorOf(result.stdout) >= RUNTIME_NODE_MAJOR) {
    return;
  }
  const reason = result.error?.message ?? `${result.stdout}${result.stderr}`.trim();
  throw new SetupError(
    `${path.relative(root, installedNode)} is not a working Node ${RUNTIME_NODE_MAJOR} (${reason}). ` +
      "On Linux it needs glibc. Remove node_modules and run the command again, " +
      `or use a machine with Node ${RUNTIME_NODE_MAJOR} or newer of its own.`,
  );
}

async function setup() {
  if (majorOf(process.version) < MINIMUM_NODE_MAJOR) {
    throw new SetupError(`Node ${process.version} is too old: install Node ${MINIMUM_NODE_MAJOR} or newer.`);
  }
  const { workspaces } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const expected = fingerprint(workspaces);
  if (isCurrent(expected)) {
    return;
  }
  await withLock(async () => {
    if (isCurrent(expected)) {
      return; // The other setup, which this one waited for, did the work.
    }
    const hasRuntime = hasOwnRuntime() || fs.existsSync(installedNode);
    if (!hasRuntime || findDifference(workspaces) !== undefined) {
      await install();
      const difference = findDifference(workspaces);
      if (difference !== undefined) {
        throw new SetupError(`npm ci succeeded, but node_modules differs from package-lock.json: ${difference}`);
      }
    }
    verifyRuntime();
    fs.writeFileSync(fingerprintFile, expected);
  });
}

try {
  await setup();
} catch (error) {
  if (!(error instanceof SetupError)) {
    throw error;
  }
  process.stderr.write(`Setup failed. ${error.message}\n`);
  process.exitCode = 1;
}
