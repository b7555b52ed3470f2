/** Cleanup at the end of a run. */

export { clearStage } from "./scene.ts";
