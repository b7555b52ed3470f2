/** How the process that tries a mutant is told which one, and tells that it has it. */

/** Names the mutant to a process, its threads and its children. */
export const MUTANT_VARIABLE = "QUOIN_MUTANT";

/** A line on standard error: the module with the mutant was loaded. */
export const IN_PLACE = "the mutant is in place";
