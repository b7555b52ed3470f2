/** Characters of a text of a client that an answer repeats. */
const REPEATED_MAX = 100;

/** The beginning of a text of a client, to repeat it in an answer: answers to long texts stay short. */
export function beginningOf(text: string): string {
  return text.length > REPEATED_MAX ? `${text.slice(0, REPEATED_MAX).toWellFormed()}...` : text.toWellFormed();
}
