/**
 * `npm run nemesis -- --minutes N`: makes faults on a cluster of real processes for N minutes, and then judges the run.
 * The exit code is 1 for a violation, or if a planned fault never landed, and 2 for wrong arguments. As root it makes
 * all faults that this machine allows, and installs missing tools; otherwise only faults of processes and of their
 * files.
 *
 *     --members 3|5        default 3
 *     --seed S             selects the faults and their order; random by default
 *     --output DIRECTORY   for history, logs and time line; default .quoin/nemesis/<time>-<seed>
 *     --fault NAME         only this kind of fault; may be repeated
 *     --sdk NAME           the SDK of another language for the loads of keys and event logs
 */

import { randomInt } from "node:crypto";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { isSdkLanguage, RemoteSdk, SDK_LANGUAGES } from "../../../clients/behaviour/remote/index.ts";
import { NoSuchFault, runNemesis } from "./nemesis.ts";
import { describeResult, isPassed } from "./report.ts";

const SEED_MAX = 0x1_0000_0000;
const MEMBERS: ReadonlySet<number> = new Set([3, 5]);
const WRONG_ARGUMENTS = 2;

function refuse(why: string): never {
  console.error(`nemesis: ${why}`);
  process.exit(WRONG_ARGUMENTS);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        minutes: { type: "string", default: "1" },
        members: { type: "string", default: "3" },
        seed: { type: "string", default: String(randomInt(SEED_MAX)) },
        output: { type: "string" },
        fault: { type: "string", multiple: true },
        sdk: { type: "string" },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
}

const values = readArguments();
const minutes = Number(values.minutes);
const members = Number(values.members);
const seed = Number(values.seed);
if (!(minutes > 0 && Number.isFinite(minutes))) {
  refuse(`--minutes must be a number above 0, not "${values.minutes}"`);
}
if (!MEMBERS.has(members)) {
  refuse(`--members must be 3 or 5, not "${values.members}"`);
}
if (values.seed === "" || !Number.isInteger(seed) || seed < 0 || seed >= SEED_MAX) {
  refuse(`--seed must be a whole number below 2^32, not "${values.seed}"`);
}
if (process.platform !== "linux") {
  refuse("faults need features of Linux: this runs only on Linux");
}
const { sdk } = values;
if (sdk !== undefined && !isSdkLanguage(sdk)) {
  refuse(`--sdk must be one of ${SDK_LANGUAGES.join(", ")}, not "${sdk}"`);
}
const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
console.log(`members ${members}  minutes ${minutes}  seed ${seed}`);
try {
  const result = await runNemesis({
    members,
    runMs: minutes * 60_000,
    seed,
    output: resolve(values.output ?? `.quoin/nemesis/${time}-${seed}`),
    kinds: values.fault ?? null,
    mayInstall: true,
    startSdk: sdk === undefined ? null : (apiKey) => RemoteSdk.start(sdk, apiKey),
    print: (line) => console.log(line),
  });
  console.log(`\n${describeResult(result)}`);
  process.exit(isPassed(result) ? 0 : 1);
} catch (error) {
  if (error instanceof NoSuchFault) {
    refuse(error.message);
  }
  throw error;
}
