/**
 * Updates docs/metrics.md from the metrics of a member or, with --check, reports whether it is current. Exits with 1 if
 * it is not, and with 2 on wrong use.
 */
import { generate } from "../../scripts/generated/index.ts";
import { METRIC_LISTS } from "../src/api/metrics/index.ts";
import { describeMetrics } from "./metric-table.ts";

await generate({
  script: "node/scripts/metrics.ts",
  files: () => new Map([["docs/metrics.md", describeMetrics(METRIC_LISTS)]]),
  complaint: "does not describe the current metrics: run npm run metrics",
});
