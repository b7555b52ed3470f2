/** Scenarios of single calls: retries, tokens, errors and bad input. */

import { describeScenarios } from "./describe-scenarios.ts";

describeScenarios("retries", "tokens", "endpoints", "TLS", "clients", "bad input");
