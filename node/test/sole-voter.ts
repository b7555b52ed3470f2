/** A consensus core with a single voter, for specs that apply a founding without a real core. */

import type { Reconfigure } from "../src/state/index.ts";

/** The configuration whose only voter is the member that the entry adds. */
export const soleVoter: Reconfigure = (index) => ({
  index,
  voters: [index],
  outgoing: [],
  learners: [],
  learnersNext: [],
  autoLeave: false,
});
