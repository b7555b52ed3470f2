/** What can be measured: each scenario, and how a run of it is described. */

import { get } from "./get.ts";
import { put } from "./put.ts";
import type { Scenario } from "./scenario.ts";

export type { Bounds, LoadResult, Scenario, Workload } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [put, get];
