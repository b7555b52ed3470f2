/** Scenarios of keys, transactions, memory regions and event logs. */

import { describeScenarios } from "./describe-scenarios.ts";

describeScenarios("keys", "transactions", "memory regions", "event logs");
