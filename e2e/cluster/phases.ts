/** Prints the phases of the work, and how long each takes. */

const TITLE_COLUMNS = 36;

/**
 * Does a part of the work and prints a line about it: its title, its seconds, and its own remark.
 *
 * @param work gets a function for a short remark, such as "found in the cache"
 */
export async function phase<T>(title: string, work: (say: (words: string) => void) => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  let words = "";
  let outcome = "failed";
  try {
    const result = await work((said) => {
      words = said;
    });
    outcome = words;
    return result;
  } finally {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`${title.padEnd(TITLE_COLUMNS)} ${seconds.padStart(7)} s  ${outcome}`.trimEnd());
  }
}
