/** How a process gets the mutant to try, and how it reports that the mutant is in place. */

/** The environment variable that names the mutant to a process, its threads and its children. */
export const MUTANT_VARIABLE = "QUOIN_MUTANT";

/** A line on standard error: the module with the mutant was loaded. */
export const LOADED_LINE = "the mutant is in place";
