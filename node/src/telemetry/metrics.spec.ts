import { expect } from "chai";
import { BEAT_INTERVAL_MS, EventLoopDelay } from "./event-loop-delay.ts";
import { createMetrics } from "./metrics.ts";

describe("metrics of a member", () => {
  it("tell the largest delay of the event loop in seconds, and begin anew", async () => {
    let nowMs = 0;
    const metrics = createMetrics(new EventLoopDelay(() => nowMs));
    nowMs += BEAT_INTERVAL_MS + 250;
    const text = await metrics.metrics();
    expect(text).to.match(/^# HELP quoin_event_loop_delay_max_seconds .+\.$/m);
    expect(text).to.match(/^# TYPE quoin_event_loop_delay_max_seconds gauge$/m);
    expect(text).to.match(/^quoin_event_loop_delay_max_seconds 0\.25$/m);
    expect(await metrics.metrics()).to.match(/^quoin_event_loop_delay_max_seconds 0$/m);
    expect(metrics.contentType).to.include("text/plain; version=0.0.4");
  });
});
