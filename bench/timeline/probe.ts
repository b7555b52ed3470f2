/**
 * Loaded into a member, and into each of its threads, before any other code: keeps the stamps with their times, and
 * writes them into a file when the thread ends.
 *
 * Its own address contains the directory and the count: `probe.ts?directory=…&stamps=…`. The clock is CLOCK_MONOTONIC
 * in nanoseconds, which all processes of a machine share. The memory for the stamps is allocated at once; when it is
 * full, new stamps overwrite the oldest.
 */

import { subscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import type { STAMP_CHANNEL, Stamp, StampName } from "@quoin/node/local";

/** Only a type import: the member's own modules must not be loaded before it. */
const CHANNEL: typeof STAMP_CHANNEL = "quoin:stamp";
const NUMBERS = 3;
/** The directory contains requests to members, so only the owner may read it. */
const FILE_MODE = 0o600;

const asked = new URL(import.meta.url).searchParams;
const directory = asked.get("directory");
const capacity = Number(asked.get("stamps"));
if (directory === null || !(Number.isSafeInteger(capacity) && capacity > 0)) {
  throw new Error("probe.ts must be loaded as probe.ts?directory=<directory>&stamps=<count>");
}

const names: StampName[] = new Array(capacity).fill("turn.begun");
const times = new Float64Array(capacity);
const numbers = new Float64Array(capacity * NUMBERS);
const texts: string[] = new Array(capacity).fill("");
let count = 0;

subscribe(CHANNEL, (message) => {
  const { name, first, second, third, text } = message as Stamp;
  const at = count % capacity;
  count++;
  // Below 2^53 for the first 104 days after a start of the machine, and within four nanoseconds for long after that.
  times[at] = Number(process.hrtime.bigint());
  names[at] = name;
  numbers[at * NUMBERS] = first;
  numbers[at * NUMBERS + 1] = second;
  numbers[at * NUMBERS + 2] = third;
  texts[at] = text;
});

process.on("exit", () => {
  if (count > 0) {
    writeFileSync(join(directory, `${process.pid}-${threadId}.jsonl`), lines(), { mode: FILE_MODE });
  }
});

/** The stamps in order, one JSON array per line: nanoseconds, name, three numbers, text. */
function lines(): string {
  const kept: string[] = [];
  for (let one = Math.max(0, count - capacity); one < count; one++) {
    const at = one % capacity;
    const own = numbers.subarray(at * NUMBERS, (at + 1) * NUMBERS);
    kept.push(JSON.stringify([times[at], names[at], ...own, texts[at]]));
  }
  return `${kept.join("\n")}\n`;
}
