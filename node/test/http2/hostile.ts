/**
 * `node node/test/http2/hostile.ts`: attacks on a member that it starts, while another client writes and reads. Prints
 * a table, and exits with 1 if the member did not withstand them (see hostile/siege.ts). Linux only.
 *
 *     node node/test/http2/hostile.ts --attack "rapid reset"    only this attack; may be repeated
 *     node node/test/http2/hostile.ts --seconds 10              each attack for this long, instead of 150 seconds
 */
import { parseArgs } from "node:util";
import { temporaryDirectory } from "../../../testing/index.ts";
import { ATTACKS, type Experience, FULL_SCALE, Siege, type SiegeRow } from "./hostile/index.ts";

const QUIET_MS = 10_000;
const MS_PER_SECOND = 1_000;
const PERCENT = 100;

const { values } = parseArgs({
  options: { attack: { type: "string", multiple: true }, seconds: { type: "string" } },
});
const holdMs = values.seconds === undefined ? FULL_SCALE.holdMs : Number(values.seconds) * MS_PER_SECOND;
const names = values.attack ?? ATTACKS.map(({ name }) => name);
const chosen = names.map((name) => {
  const attack = ATTACKS.find((one) => one.name === name);
  if (attack === undefined) {
    throw new Error(`There is no attack "${name}". There are: ${ATTACKS.map((one) => one.name).join(", ")}.`);
  }
  return attack;
});

const siege = await Siege.begin(temporaryDirectory());
try {
  console.log(
    "| Attack | What it did | s | Processor | Memory before, peak, after (MiB) | Put and get, p99 | Longest | Counted |",
  );
  console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |");
  const quiet = await siege.quiet(QUIET_MS);
  console.log(`| none | | ${QUIET_MS / MS_PER_SECOND} | | | ${times(quiet)} | |`);
  for (const attack of chosen) {
    const row = await siege.attack(attack, { ...FULL_SCALE, holdMs });
    console.log(lineOf(row));
    for (const complaint of row.complaints) {
      process.exitCode = 1;
      console.log(`FAILED: ${row.attack}: ${complaint}`);
    }
  }
} finally {
  await siege.end();
}

function lineOf({ attack, deed, seconds, processorShare, memoryMebibytes, experience, counted }: SiegeRow): string {
  const { before, peak, after } = memoryMebibytes;
  const cells = [
    attack,
    deed,
    seconds.toFixed(0),
    `${(processorShare * PERCENT).toFixed(0)} %`,
    [before, peak, after].map((value) => value.toFixed(0)).join(", "),
    times(experience),
    [...counted].map(([reason, count]) => `${count} ${reason}`).join(", "),
  ];
  return `| ${cells.join(" | ")} |`;
}

function times({ p99Ms, longestMs }: Experience): string {
  return `${p99Ms.toFixed(1)} ms | ${longestMs.toFixed(0)} ms`;
}
