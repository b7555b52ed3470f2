/** Scenarios of watches, and of members that fail. */

import { describeScenarios } from "./describe-scenarios.ts";

describeScenarios("watches", "outages");
