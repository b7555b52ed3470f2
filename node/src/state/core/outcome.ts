/**
 * The outcome of a client's command, and its encoding for replay rows.
 *
 * An outcome is data: the same on every member that applies the entry, and the same when a retry gets it from its row.
 * Deadlines are stored as cluster ticks and become remaining times when an answer is made.
 */

import { invariant } from "../../primitives/index.ts";
import { CoordinationError, isReason } from "./coordination-error.ts";
import type { Field } from "./fields.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import type { Result, StoredResult } from "./results.ts";

/**
 * Whether the answer was computed now, taken from its row, or taken from a row that was too small for its values. In
 * the last case `previous` and the current value of a key are empty, whatever they were.
 */
export type Replayed = "no" | "yes" | "no-values";

export interface Outcome {
  /** The result, or why the command was refused. */
  readonly answer: Result | CoordinationError;
  readonly replayed: Replayed;
}

/** How the answers of one kind are stored. */
export interface AnswerForm {
  readonly kind: string;
  /** No other answer ever has it. */
  readonly number: number;
  readonly field: Field<StoredResult>;
  /** The answer without the values in it, for one that is too large to be stored. */
  readonly withoutValues: (answer: never) => StoredResult;
}

/** The number of a refusal. Those of results are in the values of their operations. */
const ERROR = 0;

/** The stored form of every answer that is stored. */
export class AnswerForms {
  readonly #byKind: ReadonlyMap<string, AnswerForm>;
  readonly #byNumber: ReadonlyMap<number, AnswerForm>;

  constructor(forms: readonly AnswerForm[]) {
    this.#byKind = new Map(forms.map((form) => [form.kind, form]));
    this.#byNumber = new Map(forms.map((form) => [form.number, form]));
    const areDifferent = this.#byNumber.size === forms.length && !this.#byNumber.has(ERROR);
    invariant(areDifferent, "each answer has a number of its own");
  }

  /** Writes the form that `decode` reads. */
  write(writer: RecordWriter, answer: StoredResult | CoordinationError): void {
    if (answer instanceof CoordinationError) {
      writeError(writer, answer);
      return;
    }
    const form = this.#byKind.get(answer.kind) as AnswerForm;
    writer.uint8(form.number);
    form.field.write(writer, answer);
  }

  encode(answer: StoredResult | CoordinationError): Uint8Array {
    const writer = new RecordWriter();
    this.write(writer, answer);
    return writer.finish();
  }

  decode(bytes: Uint8Array): StoredResult | CoordinationError {
    const reader = new RecordReader(bytes);
    const answer = this.read(reader);
    reader.end();
    return answer;
  }

  /** Reads what `write` has written, and nothing behind it. */
  read(reader: RecordReader): StoredResult | CoordinationError {
    const number = reader.uint8();
    const form = this.#byNumber.get(number);
    invariant(number === ERROR || form !== undefined, "answers have a known kind", () => String(number));
    return form === undefined ? readError(reader) : form.field.read(reader);
  }

  /** The answer without the values in it; the answer itself if it has none. */
  withoutValues(answer: StoredResult | CoordinationError): StoredResult | CoordinationError {
    if (answer instanceof CoordinationError) {
      return answer;
    }
    return (this.#byKind.get(answer.kind) as AnswerForm).withoutValues(answer as never);
  }
}

function writeError(writer: RecordWriter, { reason, message, details }: CoordinationError): void {
  writer.uint8(ERROR).text(reason).text(message).uint32(details.size);
  for (const [name, value] of details) {
    writer.text(name).text(value);
  }
}

function readError(reader: RecordReader): CoordinationError {
  const reason = reader.text();
  invariant(isReason(reason), "stored refusals have a known reason", () => reason);
  const message = reader.text();
  const details = new Map<string, string>();
  for (let left = reader.uint32(); left > 0; left--) {
    details.set(reader.text(), reader.text());
  }
  return new CoordinationError(reason, message, { details });
}
