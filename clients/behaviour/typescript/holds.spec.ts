/** Scenarios of everything that is held: locks, semaphores, sessions and leaderships. */

import { describeScenarios } from "./describe-scenarios.ts";

describeScenarios("locks", "other locks", "sessions", "elections");
