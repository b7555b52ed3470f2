/** How a page shows an example: its command, and the documented answer. */

import { curlCommand, grpcurlCommand, jsonText } from "./commands.ts";
import { EXAMPLES, type Example, type GrpcExample, type HttpExample } from "./examples/index.ts";
import { block } from "./markdown.ts";

/** The examples of a method or of an operation. Raises Error if there is none. */
export function examplesOf(name: string): string {
  const found = EXAMPLES.filter((example) => nameOf(example) === name);
  if (found.length === 0) {
    throw new Error(`${name} needs an example in scripts/api/examples`);
  }
  return found.map((example) => (example.kind === "grpc" ? grpcText(example) : httpText(example))).join("\n");
}

function nameOf(example: Example): string {
  return example.kind === "grpc" ? example.method : example.operation;
}

function grpcText(example: GrpcExample): string {
  const { answers, isPart, refusal } = example;
  return [
    headingOf(example),
    block("sh", grpcurlCommand(example)),
    refusal === undefined
      ? `${introduction(answers.length, isPart)}\n\n${block("json", answers.map((answer) => jsonText(answer)).join("\n"))}`
      : `The call is refused with ${refusal.code} / ${refusal.reason}:\n\n${block("text", refusal.message)}`,
  ].join("\n");
}

function httpText(example: HttpExample): string {
  const { status, json, text = "", isPart } = example.answer;
  const body = json === undefined ? block("text", text.trimEnd()) : block("json", jsonText(json));
  return [
    headingOf(example),
    block("sh", curlCommand(example)),
    `The answer has the status ${status}${isPart === true ? ", and contains among others" : ""}:\n\n${body}`,
  ].join("\n");
}

function introduction(answers: number, isPart: boolean | undefined): string {
  if (answers > 1) {
    return "The first messages:";
  }
  return isPart === true ? "The answer contains among others:" : "The answer:";
}

function headingOf({ about: sentence, isRepeated }: Example): string {
  const about = sentence ?? (isRepeated === true ? "Repeat the call until it returns this answer." : undefined);
  return `**Example.**${about === undefined ? "" : ` ${about}`}\n`;
}
