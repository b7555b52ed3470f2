/**
 * The tried and acknowledged values of the writers of one data directory (crash-writer.ts), over all processes. It
 * compares what a process finds with them.
 */

import { expect } from "chai";
import type { Acknowledgement, FoundState, WriterTask } from "./writer-task.ts";

const WRITERS = 3;

export class WriterLedger {
  readonly tried: number[] = Array.from({ length: WRITERS }, () => 0);
  readonly acknowledged: Acknowledgement[][] = Array.from({ length: WRITERS }, () => []);
  incarnation: string | undefined;
  isFounded = false;

  /** The task of the next process. */
  task(directory: string, values: number): WriterTask {
    const writers = this.tried.map((tried, at) => ({ tried, acknowledged: this.acknowledged[at] ?? [] }));
    return { directory, writers, isCompacting: true, values };
  }

  /** Records the output of a process, and checks what it found. */
  read(lines: readonly string[]): void {
    for (const line of lines) {
      const [verb, ...words] = line.split(" ");
      const [writer, value, modRevision] = words.map(Number) as [number, number, number];
      switch (verb) {
        case "opened":
          this.#opened(words[0] ?? "", words[1] ?? "", line);
          break;
        case "founded":
          this.isFounded = true;
          break;
        case "state":
          this.#found(JSON.parse(words.join(" ")) as FoundState);
          break;
        case "try":
          this.tried[writer] = Math.max(this.tried[writer] as number, value);
          break;
        case "ack":
          this.acknowledged[writer]?.push({ value, modRevision });
          break;
        case "again":
          expect(line).to.equal(
            `again ${writer} ${value} ${this.acknowledged[writer]?.at(-1)?.modRevision} yes`,
            "the last answer, from its row",
          );
          break;
        case "founding":
        case "fatal":
        case "done":
          break;
        default:
          throw new Error(`the writer said: ${line}`);
      }
    }
  }

  #opened(state: string, incarnation: string, line: string): void {
    expect(["EMPTY", "RUNNING"], line).to.include(state);
    if (this.isFounded) {
      expect(state, "a founding that was answered is there").to.equal("RUNNING");
    }
    expect(incarnation).to.equal(this.incarnation ?? incarnation);
    this.incarnation = incarnation;
  }

  #found({ revision, keys }: FoundState): void {
    const found = new Map(keys.map((entry) => [entry.key, entry]));
    for (const [writer, tried] of this.tried.entries()) {
      const last = this.acknowledged[writer]?.at(-1) ?? { value: 0, modRevision: 0 };
      const { value, version, modRevision } = found.get(`writer-${writer}`) ?? { value: 0, version: 0, modRevision: 0 };
      expect(value, `writer ${writer}: acknowledged`).to.be.at.least(last.value);
      expect(value, `writer ${writer}: tried`).to.be.at.most(tried);
      expect(version, `writer ${writer}: each value once`).to.equal(value);
      if (value === last.value) {
        expect(modRevision, `writer ${writer}`).to.equal(last.modRevision);
      }
    }
    // The namespace of the founding has the first revision; each put has taken one of the others.
    expect(revision, "each put took one revision").to.equal(keys.reduce((sum, { version }) => sum + version, 1));
    const revisions = this.acknowledged.flat().map(({ modRevision }) => modRevision);
    expect(new Set(revisions).size, "no two puts share a revision").to.equal(revisions.length);
  }
}
