/** Starts the console in its page. */

import { render } from "preact";
import { App } from "./app/index.ts";
import { resumeSession } from "./session/index.ts";
import { showNamesEscaped } from "./ui/index.ts";

showNamesEscaped();
resumeSession();
const place = document.getElementById("console");
if (place !== null) {
  render(<App />, place);
}
