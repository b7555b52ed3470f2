/** Problems, messages and times in the form that the definitions allow. */

/** A problem, as a reason and as a sentence for people. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Limit of the definitions, in characters. */
const MESSAGE_LENGTH_MAX = 1_024;

/** Cuts a message to this many characters. */
export function clipped(message: string, lengthMax = MESSAGE_LENGTH_MAX): string {
  return message.length <= lengthMax ? message : `${message.slice(0, lengthMax - 1)}…`;
}

/** Time in Kubernetes' format, in whole seconds. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
